// What Mete knows of every operator: how many inputs it has and what shapes come out of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/attributes.h"
#include "base/error.h"
#include "graph/graph.h"

namespace mete {

// What is known of an operator's inputs when its shapes are inferred. At plan time only constants have
// data; at run time (for nodes whose shapes depend on data) all inputs have it.
class InferContext {
 public:
  InferContext(const std::string& node, const Attributes& attributes, std::span<const ConstView> inputs,
               std::span<const uint8_t> has_data, size_t outputs)
      : attributes(attributes), node_(node), inputs_(inputs), has_data_(has_data), results_(outputs) {}

  const Attributes& attributes;
  const std::string& node() const { return node_; }  // its name

  // Inputs. Shapes of present inputs are always known when an operator's function is called.
  int inputs() const { return int(inputs_.size()); }
  bool has(int i) const { return i < inputs() && inputs_[size_t(i)].present(); }
  DType type(int i) const { return inputs_[size_t(i)].type; }
  const Shape& shape(int i) const { return inputs_[size_t(i)].shape; }
  bool has_data(int i) const { return has(i) && has_data_[size_t(i)]; }
  const ConstView& data(int i) const { return inputs_[size_t(i)]; }  // only where has_data(i)
  // An integer or bool input's elements as i64; empty optional where absent or not yet known.
  std::optional<Ints> ints(int i) const;

  // Outputs. Those that an operator's function does not set are left out.
  int outputs() const { return int(results_.size()); }
  void Output(int i, DType type, const Shape& shape) {
    if (i < outputs()) results_[size_t(i)] = {type, shape};
  }
  void OutputUnknown(int i, DType type) { Output(i, type, Shape::Unknown()); }

  // Throws INVALID_ARGUMENT "[node] ...".
  template <class... A>
  [[noreturn]] void Bad(fmt::format_string<A...> format, A&&... args) const {
    Invalid(node_, format, std::forward<A>(args)...);
  }
  void NeedRank(int i, int least, int most = Shape::kMaxRank) const;
  // An axis in [-rank, rank) to one in [0, rank).
  int Axis(int64_t axis, int rank) const;

  struct Result {
    DType type = DType::kUnknown;
    Shape shape = Shape::Unknown();
  };
  std::span<const Result> results() const { return results_; }

 private:
  const std::string& node_;
  std::span<const ConstView> inputs_;
  std::span<const uint8_t> has_data_;
  std::vector<Result> results_;
};

using InferFn = void (*)(InferContext&);

// Which elements of its inputs an output element follows from. Passes, the memory plan, partition and costs
// ask here.
enum class OpKind : uint8_t {
  kOther,
  // those at its place: inputs broadcast to the output, and a kernel reads all of them before it writes the
  // element
  kElementwise,
  // those at its place, but a kernel takes input after input: it writes the output before it has read the
  // last one
  kElementwiseFold,
  // that at its place of the first input; others are numbers (Clip's bounds) or only a type (CastLike)
  kElementwiseFirst,
  // the output has the bytes of the first input in the same order, mostly without any work
  kView,
  kCopy,  // the output is the first input: a view, and element-wise
};

struct OpSchema {
  const char* name;
  int min_inputs, max_inputs;  // max -1: any number
  int max_outputs;             // -1: any number
  InferFn infer;
  OpKind kind = OpKind::kOther;
};

const OpSchema* FindOperator(std::string_view op);  // null where unknown
std::vector<const OpSchema*> AllOperators();        // sorted by name

OpKind KindOf(std::string_view op);  // kOther where unknown
bool IsElementwiseOperator(std::string_view op);
bool IsViewOperator(std::string_view op);
// Whether the fast kernels of the operator read and write 4-D values with their channels last (N, H, W, C):
// Conv, MaxPool, ...
bool PrefersChannelsLast(std::string_view op);
// Whether the output of this node may take the place of its input `i`, where that has the same shape,
// elements of the same size, and no other reader: Relu(x) and Add(x, y) may, and Sum(x, y, z) over x alone.
bool MayOverwrite(const Node& node, size_t i);

// Runs one node's inference over what its inputs' values say. Results are in the order of its outputs;
// all Unknown() where an input's shape is. Throws INVALID_ARGUMENT naming the node for shapes that do
// not fit or whose bytes pass `max_bytes`.
std::vector<InferContext::Result> InferNode(const Graph& graph, const Node& node,
                                            int64_t max_bytes = int64_t(1) << 33);

// The same at run time, from the inputs themselves (all with data).
std::vector<InferContext::Result> InferNode(const Node& node, std::span<const ConstView> inputs,
                                            int64_t max_bytes = int64_t(1) << 33);

// Infers every node in order and writes the outputs' types and shapes. Collects the problems of all
// nodes into one Error.
void InferShapes(Graph& graph);

// The families, one file in graph/ops/ each.
std::span<const OpSchema> ElementwiseOperators();
std::span<const OpSchema> ReductionOperators();
std::span<const OpSchema> ConvolutionOperators();
std::span<const OpSchema> NormalizationOperators();
std::span<const OpSchema> MatrixOperators();
std::span<const OpSchema> TensorOperators();
std::span<const OpSchema> IndexOperators();
std::span<const OpSchema> ImageOperators();
std::span<const OpSchema> SequenceOperators();
std::span<const OpSchema> QuantizedOperators();
std::span<const OpSchema> FusedOperators();

// Shared by families.
Shape BroadcastShapes(const InferContext& c, const Shape& a, const Shape& b);

}  // namespace mete
