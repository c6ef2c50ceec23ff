// The rules behind Divide(): one function an operator or a family, one file a family.
#pragma once

#include <optional>
#include <span>

#include "graph/operators.h"
#include "partition/divide.h"

namespace mete {

// One node and the part of its outputs that is asked for, with what rules read of them. Shapes of inputs and
// outputs are known, outputs have the same number of rows, the axis is one of theirs, and the rows lie within
// it.
class DivideContext {
 public:
  DivideContext(const Graph& graph, const Node& node, const Part& part)
      : graph(graph), node(node), axis(part.axis), rows(part.rows) {}

  const Graph& graph;
  const Node& node;
  const int axis;
  const IndexRange rows;

  int inputs() const { return int(node.inputs.size()); }
  bool has(int i) const { return node.input(size_t(i)) != kNoValue; }
  const Shape& shape(int i) const { return graph.value(node.input(size_t(i))).shape; }
  const Shape& output() const { return graph.value(FirstOutput()).shape; }
  std::optional<Ints> ints(int i) const { return IntsOf(graph, node.input(size_t(i))); }

  // The node as it is, every input whole.
  Division Whole() const { return {std::vector<Part>(node.inputs.size(), Part::All()), node.attributes, {}}; }
  // Input `i` of `d` is needed in the same rows, along its axis `input_axis`.
  void SameRows(Division& d, int i, int input_axis) const {
    d.inputs[size_t(i)] = Part::Of(input_axis, rows);
  }
  // The blocks of so many rows that have those that are asked for. `d` computes all of them.
  IndexRange Blocks(Division& d, int64_t size) const {
    const IndexRange blocks{rows.begin / size, (rows.end + size - 1) / size};
    d.rows = {blocks.begin * size, blocks.end * size};
    return blocks;
  }
  // As numpy broadcasts: the axis is counted from the last one; an input with one row, or without the axis,
  // is needed whole. False where the input has another number of rows.
  bool Broadcast(Division& d, int i) const;

 private:
  ValueId FirstOutput() const;
};

// An axis as a model writes it, of so many.
inline int Positive(int64_t axis, int rank) { return int(axis < 0 ? axis + rank : axis); }

using DivideFn = std::optional<Division> (*)(const DivideContext&);

struct DivideRule {
  const char* op;
  DivideFn divide;
};

std::span<const DivideRule> WindowRules();   // convolutions and pools
std::span<const DivideRule> MatrixRules();   // matrix products and attention
std::span<const DivideRule> AlongRules();    // what joins elements along axes, or normalizes by them
std::span<const DivideRule> ArrangeRules();  // what moves elements

}  // namespace mete
