// Nodes as lines of text, so that tests and benchmarks take their nodes from files. Only they use this
// library. One line is one node, in the form in which ToText (graph/graph.h) prints it:
//
//   Conv(2x11x9x37, const 37x1x3x3, const 37) {group=37, layout="NHWC"} -> depthwise
//   Split[2](i64 2x7x5) {axis=1, num_outputs=2} -> split
//   Slice(4x9, const i64 [1], const i64 [7], -, const i64 [2])
//   QuantizeLinear(33x7, const scalar in 0.01 to 0.02, const u8 scalar) -> quantize
//
// The inputs are in parentheses: a type (f32 if there is none) and a shape, or `-` for an omitted input.
// `const` marks a constant. Values are random within the range behind `in`; without a range, floats are in
// [-1, 1] and integers take all values of 8 bits that their type has. A list in brackets gives the values
// themselves. `[N]` behind the operator is the number of outputs, if it is not 1. The text behind `->` is
// what the reader of the file expects of the node, for example the name of its kernel. Empty lines and lines
// that begin with # are skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace mete {

struct NodeInput {
  DType type = DType::kF32;
  Shape shape = Shape::Unknown();  // unknown: the input is omitted
  bool constant = false;
  std::optional<std::pair<double, double>> range;  // of the random values, with both ends
  std::vector<double> values;                      // the values themselves, if there is no range
};

struct NodeText {
  std::string where;  // "conv.txt:12"
  std::string text;   // the line without what is expected
  std::string op;
  std::vector<NodeInput> inputs;
  int outputs = 1;
  Attributes attributes;
  std::string expected;  // empty: nothing
};

// Reads one line. An Error names `where` and the column.
NodeText ParseNode(const std::string& where, std::string_view line);

// Reads all lines of a text or a file. An Error names the file and the line.
std::vector<NodeText> ParseNodes(const std::string& name, std::string_view text);
std::vector<NodeText> ReadNodes(const std::string& path);

// A graph of one node. Its inputs are the inputs of the node that are no constants.
struct OneNodeGraph {
  Graph graph;
  std::vector<Tensor> data;  // by input of the node, constants included; without value for omitted inputs
  const Node& node() const { return graph.nodes[0]; }
};

// Makes the graph with random values that depend only on `seed`, and infers its shapes. The graph as a whole
// is not verified: a node that needs others, as a slice of a concatenation does (graph/fused.h), is possible.
OneNodeGraph MakeOneNodeGraph(const NodeText& node, uint32_t seed);

}  // namespace mete
