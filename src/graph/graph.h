// The network as a value: typed nodes over values, in topological order. It knows what operators mean
// (graph/operators.h) but not how they are computed, nor any file format.
//
// Operators carry the names and the semantics of ONNX at opset 24, whatever the model was written in:
// importers upgrade older forms (attributes that became inputs, a Softmax that flattened, ...), so that
// nobody behind them has to ask for a version. What ONNX lacks is written "mete.Name".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/attributes.h"
#include "mete/tensor.h"

namespace mete {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an optional input or output that is left out

// The order of a 4-D activation's dimensions in memory. kPlain: as the operator defines them.
enum class Layout : uint8_t { kPlain, kNhwc };

struct Value {
  std::string name;
  DType type = DType::kUnknown;
  Shape shape = Shape::Unknown();  // in memory order; Unknown() where it depends on the data
  Layout layout = Layout::kPlain;
  Tensor constant;  // has_value() for weights and folded results

  bool is_constant() const { return constant.has_value(); }
};

struct Node {
  std::string name;  // unique and never empty: importers invent one from the operator and its output
  std::string op;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes;

  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : kNoValue; }
  ValueId output(size_t i) const { return i < outputs.size() ? outputs[i] : kNoValue; }
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;       // topologically sorted: Verify() holds to it
  std::vector<ValueId> inputs;   // values that the caller gives; never constants
  std::vector<ValueId> outputs;  // values that the caller gets; may be constants or inputs

  const Value& value(ValueId id) const { return values[size_t(id)]; }
  Value& value(ValueId id) { return values[size_t(id)]; }

  ValueId AddValue(std::string name, DType type = DType::kUnknown, const Shape& shape = Shape::Unknown());
  ValueId AddConstant(std::string name, Tensor tensor);
  // Appends; the outputs keep whatever type and shape they have. The name must be unused.
  Node& AddNode(std::string op, std::string name, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
                Attributes attributes = {});
};

// Of f32, with a known shape: what fast kernels and the passes that serve them ask for.
inline bool IsF32(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).type == DType::kF32 && graph.value(id).shape.known();
}

inline bool IsConstant(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).is_constant();
}

// A constant of i64 (axes, pads, ...) as a list.
std::optional<Ints> IntsOf(const Graph& graph, ValueId id);

// Who makes and who reads each value, as indices into graph.nodes. A snapshot: stale after an edit.
struct Uses {
  explicit Uses(const Graph& graph);
  std::vector<int> producer;              // per value; -1 for inputs and constants
  std::vector<std::vector<int>> readers;  // per value, in node order, once per use
  std::vector<bool> is_output;            // per value
  // True where exactly one node reads the value and the caller does not.
  bool OnlyReader(ValueId id) const { return readers[size_t(id)].size() == 1 && !is_output[size_t(id)]; }
};

// Sorts nodes so that producers come first, stable otherwise. Error naming the nodes of a cycle.
void SortTopologically(Graph& graph);

// Drops nodes whose outputs nobody reads, and values that nobody mentions (ids change).
void RemoveUnused(Graph& graph);

// Checks ids, unique names, one producer a value, order, operators known, numbers of inputs and outputs,
// and that each node's inferred types and shapes equal what the values say. Throws one Error that lists
// every problem.
void Verify(const Graph& graph);

// A line a value or node: meant for people and for tests.
std::string ToText(const Graph& graph);
std::string ToDot(const Graph& graph);

// "f32 1x3x224x224", or "i64 ?" where the shape is known only at run time.
std::string Describe(const Value& value);

}  // namespace mete
