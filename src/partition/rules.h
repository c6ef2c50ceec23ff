// The rules behind Divide(): one function for each value of DivideBy (graph/traits.h), one file per family.
#pragma once

#include <optional>
#include <span>

#include "graph/operators.h"
#include "partition/divide.h"

namespace mete {

// One node and the requested part of its outputs, with functions that the rules share. A rule may assume that
// the shapes of inputs and outputs are known, that all outputs have the same number of rows along the axis,
// and that the requested rows lie within it.
class DivideContext {
 public:
  DivideContext(const Graph& graph, const Node& node, const Part& part)
      : graph(graph), node(node), traits(TraitsOf(node.op)), axis(part.axis), rows(part.rows) {}

  const Graph& graph;
  const Node& node;
  const OpTraits& traits;
  const int axis;
  const IndexRange rows;

  int inputs() const { return int(node.inputs.size()); }
  bool has(int i) const { return node.input(size_t(i)) != kNoValue; }
  const Shape& shape(int i) const { return graph.value(node.input(size_t(i))).shape; }
  const Shape& output() const { return graph.value(FirstOutput()).shape; }
  std::optional<Ints> ints(int i) const { return IntsOf(graph, node.input(size_t(i))); }
  // Returns the node's attribute `axis` as an axis in [0, rank).
  int AxisAttribute(int rank) const {
    const int64_t given = node.attributes.Int("axis", traits.axis);
    return int(given < 0 ? given + rank : given);
  }

  // Returns the division of the unchanged node, which needs every input whole.
  Division Whole() const { return {std::vector<Part>(node.inputs.size(), Part::All()), node.attributes, {}}; }
  // Sets input `i` of `d` to the requested rows, along the input's axis `input_axis`.
  void SameRows(Division& d, int i, int input_axis) const {
    d.inputs[size_t(i)] = Part::Of(input_axis, rows);
  }
  // Returns the blocks of `size` rows that contain the requested rows, and sets the rows that `d` computes to
  // all rows of these blocks.
  IndexRange Blocks(Division& d, int64_t size) const {
    const IndexRange blocks{rows.begin / size, (rows.end + size - 1) / size};
    d.rows = {blocks.begin * size, blocks.end * size};
    return blocks;
  }
  // Sets the part of input `i` by numpy's rule of broadcasting: axes are counted from the last, and an input
  // with one row, or without the axis, is needed whole. Returns false if the input has another number of
  // rows.
  bool Broadcast(Division& d, int i) const;

 private:
  ValueId FirstOutput() const;
};

// Converts an axis in [-rank, rank) to one in [0, rank).
inline int Positive(int64_t axis, int rank) { return int(axis < 0 ? axis + rank : axis); }

using Divided = std::optional<Division>;

// Element-wise operators. divide.cc
Divided DivideByBroadcast(const DivideContext&);
Divided DivideByFirstInput(const DivideContext&);

// Convolutions and pools. rules_window.cc
Divided DivideConvolution(const DivideContext&);
Divided DivideQuantizedConvolution(const DivideContext&);
Divided DivideTransposedConvolution(const DivideContext&);
Divided DividePool(const DivideContext&);
Divided DivideGlobalPool(const DivideContext&);

// Matrix products and attention. rules_matrix.cc
Divided DivideGemm(const DivideContext&);
Divided DivideMatMul(const DivideContext&);
Divided DivideMatMulInteger(const DivideContext&);
Divided DivideQLinearMatMul(const DivideContext&);
Divided DivideAttention(const DivideContext&);

// Operators that work along axes. rules_along.cc
Divided DivideAlongAxis(const DivideContext&);
Divided DivideFromAxis(const DivideContext&);
Divided DivideBatchNormalization(const DivideContext&);
Divided DivideInstanceNormalization(const DivideContext&);
Divided DivideOverChannels(const DivideContext&);
Divided DivideQuantize(const DivideContext&);
Divided DivideReduce(const DivideContext&);

// Operators that move elements. rules_arrange.cc
Divided DivideReshape(const DivideContext&);
Divided DivideSqueeze(const DivideContext&);
Divided DivideSameBytes(const DivideContext&);
Divided DivideExpand(const DivideContext&);
Divided DivideTranspose(const DivideContext&);
Divided DivideGather(const DivideContext&);
Divided DivideSlice(const DivideContext&);
Divided DividePad(const DivideContext&);
Divided DivideResize(const DivideContext&);
Divided DivideBlocksToChannels(const DivideContext&);
Divided DivideChannelsToBlocks(const DivideContext&);

}  // namespace mete
