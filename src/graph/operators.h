// The table of all operators: their numbers of inputs and outputs, shape inference, and traits.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/attributes.h"
#include "base/error.h"
#include "graph/graph.h"
#include "graph/traits.h"

namespace mete {

// The inputs and the results of the shape inference of one node. At plan time only constants have data; at
// run time (for nodes whose shapes depend on data) all inputs have data.
class InferContext {
 public:
  InferContext(const std::string& node, const Attributes& attributes, std::span<const ConstView> inputs,
               std::span<const uint8_t> has_data, size_t outputs)
      : attributes(attributes), node_(node), inputs_(inputs), has_data_(has_data), results_(outputs) {}

  const Attributes& attributes;
  const std::string& node() const { return node_; }  // the node's name

  // Inputs. The shapes of present inputs are always known when an operator's inference function is called.
  int inputs() const { return int(inputs_.size()); }
  bool has(int i) const { return i < inputs() && inputs_[size_t(i)].present(); }
  DType type(int i) const { return inputs_[size_t(i)].type; }
  const Shape& shape(int i) const { return inputs_[size_t(i)].shape; }
  bool has_data(int i) const { return has(i) && has_data_[size_t(i)]; }
  const ConstView& data(int i) const { return inputs_[size_t(i)]; }  // valid only if has_data(i)
  // Returns the elements of an integer or bool input as i64, or nothing if the input is absent or has no data
  // yet. Throws an Error for other types.
  std::optional<Ints> ints(int i) const;

  // Outputs. An output that the inference function does not set keeps an unknown type and shape.
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
  // Throws an Error if the rank of input i is not in `least` to `most`.
  void NeedRank(int i, int least, int most = Shape::kMaxRank) const;
  // Converts an axis in [-rank, rank) to one in [0, rank). Throws an Error for other values.
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

struct OpSchema {
  const char* name;
  int min_inputs, max_inputs;  // max -1: any number
  int max_outputs;             // -1: any number
  InferFn infer;
  OpTraits traits = {};
};

const OpSchema* FindOperator(std::string_view op);  // null if unknown
std::vector<const OpSchema*> AllOperators();        // sorted by name

// Infers the types and shapes of one node's outputs from those of its inputs. Returns one result per output,
// in order; all are Unknown() if the shape of an input is unknown. Throws INVALID_ARGUMENT with the node's
// name if shapes do not fit or an output is larger than `max_bytes`.
std::vector<InferContext::Result> InferNode(const Graph& graph, const Node& node,
                                            int64_t max_bytes = int64_t(1) << 33);

// Infers the same at run time from the inputs themselves, which all have data.
std::vector<InferContext::Result> InferNode(const Node& node, std::span<const ConstView> inputs,
                                            int64_t max_bytes = int64_t(1) << 33);

// Infers the types and shapes of all nodes in order and writes them to the outputs' values. Throws one Error
// with the problems of all nodes.
void InferShapes(Graph& graph);

// The families of operators, each with a file in graph/ops/.
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
std::span<const OpSchema> ControlFlowOperators();

// Returns the shape that `a` and `b` are broadcast to. Throws an Error if they do not fit.
Shape BroadcastShapes(const InferContext& c, const Shape& a, const Shape& b);

}  // namespace mete
