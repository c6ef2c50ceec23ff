// The network as a value: typed nodes over values, in topological order. A graph defines what operators mean
// (graph/operators.h) but not how they are computed, and it knows no file format.
//
// Operators have the names and the semantics of ONNX at opset 24, whichever version the model was written in:
// importers upgrade older forms (attributes that became inputs, a Softmax that flattens its input, ...), so
// that passes and kernels need not know the version. Operators that ONNX lacks are named "mete.Name".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/attributes.h"
#include "mete/tensor.h"

namespace mete {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an optional input or output that is omitted

// The order of a 4-D activation's dimensions in memory. kPlain: the order that the operator defines.
enum class Layout : uint8_t { kPlain, kNhwc };

struct Value {
  std::string name;
  DType type = DType::kUnknown;
  Shape shape = Shape::Unknown();  // in memory order; Unknown() if it depends on the data
  Layout layout = Layout::kPlain;
  Tensor constant;  // has a value for weights and folded results
  // A constant that depends on the sizes of the graph's inputs, a result of shape arithmetic: its number in
  // the graph that computes it (passes/shape_walk.h). It changes with the shapes of a run, so passes and
  // prepared kernels must not read it: they ask IsConstant(), IntsOf() or ScalarOf().
  ValueId open = kNoValue;

  bool is_constant() const { return constant.has_value(); }
};

struct Node {
  std::string name;  // unique, never empty: importers name an unnamed node after its operator and output
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
  std::vector<Node> nodes;       // topologically sorted, which Verify() checks
  std::vector<ValueId> inputs;   // values that the caller provides; never constants
  std::vector<ValueId> outputs;  // values that the caller receives; may be constants or inputs
  // Bytes of the constants of other graphs that run between two runs of this one, as the other shares of a
  // model do: caches that do not have room for all of them do not keep this graph's constants either.
  int64_t other_constant_bytes = 0;
  // Whether this graph is a share of one with bytes. HasBytes() is then true of the share, too, even if all
  // of its own values are floats, as those of a Softmax behind 8-bit layers are.
  bool share_of_bytes = false;

  const Value& value(ValueId id) const { return values[size_t(id)]; }
  Value& value(ValueId id) { return values[size_t(id)]; }

  ValueId AddValue(std::string name, DType type = DType::kUnknown, const Shape& shape = Shape::Unknown());
  ValueId AddConstant(std::string name, Tensor tensor);
  // Appends a node. The types and shapes of `outputs` do not change. The name must be unused.
  Node& AddNode(std::string op, std::string name, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
                Attributes attributes = {});
};

// Returns the bytes of the graph's own constants.
int64_t ConstantBytes(const Graph& graph);

// Returns whether values that a run of the network computes, or its inputs, are bytes.
bool HasBytes(const Graph& graph);

// Returns true if the value is f32 and its shape is known, which fast kernels and their fusion passes
// require.
inline bool IsF32(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).type == DType::kF32 && graph.value(id).shape.known();
}

// Returns true if the value is the same in each run, whatever the shapes of its inputs.
inline bool IsConstant(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).is_constant() && graph.value(id).open == kNoValue;
}

// Returns the elements of an i64 constant (axes, pads, ...), or nothing for other values.
std::optional<Ints> IntsOf(const Graph& graph, ValueId id);

// The producer and the readers of each value, as indices into graph.nodes. A Uses is a snapshot: it is stale
// after the graph has been edited.
struct Uses {
  explicit Uses(const Graph& graph);
  std::vector<int> producer;              // one per value; -1 for inputs and constants
  std::vector<std::vector<int>> readers;  // per value, in node order; a node is listed once per use
  std::vector<bool> is_output;            // per value: true if it is an output of the graph
  // Returns true if the value is used exactly once, by a node, and is no output of the graph.
  bool OnlyReader(ValueId id) const { return readers[size_t(id)].size() == 1 && !is_output[size_t(id)]; }
};

// Sorts the nodes so that producers come before readers; otherwise the order is kept. Throws an Error that
// names the nodes of a cycle.
void SortTopologically(Graph& graph);

// Removes nodes whose outputs are not used, and values that no node, input or output refers to. Ids of values
// change.
void RemoveUnused(Graph& graph);

// Checks that ids are valid, node names are unique, each value has one producer, nodes are sorted, operators
// are known and have valid numbers of inputs and outputs, and that the inferred types and shapes of each
// node's outputs equal those of the values. Throws one Error that lists the problems.
void Verify(const Graph& graph);

// Return the graph for people and for tests: as text, one line per value or node, and as Graphviz.
std::string ToText(const Graph& graph);
std::string ToDot(const Graph& graph);

// Returns "f32 1x3x224x224", or "i64 ?" if the shape is known only at run time.
std::string Describe(const Value& value);

}  // namespace mete
