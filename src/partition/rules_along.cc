// Operators that reduce or normalize elements along some axes. They can be divided along the other axes.
#include <algorithm>

#include "partition/rules.h"

namespace mete {
namespace {

std::optional<Division> SameAxis(const DivideContext& c) {
  Division d = c.Whole();
  c.SameRows(d, 0, c.axis);
  return d;
}

// An operator whose inputs from 1 on have one element per channel.
std::optional<Division> ByChannel(const DivideContext& c) {
  Division d = c.Whole();
  c.SameRows(d, 0, c.axis);
  if (c.axis == 1)
    for (int i = 1; i < c.inputs(); ++i) c.SameRows(d, i, 0);
  return d;
}

}  // namespace

// An operator that works only along attribute `axis`. Inputs of another rank, such as the sizes of a Split,
// are needed whole.
Divided DivideAlongAxis(const DivideContext& c) {
  const int rank = c.output().rank();
  if (c.axis == c.AxisAttribute(rank)) return std::nullopt;
  Division d = c.Whole();
  for (int i = 0; i < c.inputs(); ++i)
    if (c.has(i) && c.shape(i).rank() == rank) c.SameRows(d, i, c.axis);
  return d;
}

// An operator that works along all axes from attribute `axis` on, which are those of scale and bias. The
// optional outputs mean and deviation have the same rows as the first output.
Divided DivideFromAxis(const DivideContext& c) {
  if (c.axis >= c.AxisAttribute(c.shape(0).rank())) return std::nullopt;
  Division d = c.Whole();
  c.SameRows(d, 0, c.axis);
  for (int i = 1; i < c.inputs(); ++i)
    if (c.has(i) && !c.Broadcast(d, i)) return std::nullopt;
  return d;
}

Divided DivideBatchNormalization(const DivideContext& c) {
  const bool training = c.node.attributes.Int("training_mode", 0) != 0;  // uses moments of all rows
  if (training || IsNhwc(c.node.attributes) || c.node.outputs.size() > 1 || c.shape(0).rank() < 2)
    return std::nullopt;
  return ByChannel(c);
}

Divided DivideInstanceNormalization(const DivideContext& c) {
  if (c.axis > 1) return std::nullopt;
  return ByChannel(c);
}

Divided DivideOverChannels(const DivideContext& c) {
  if (c.axis == 1 || IsNhwc(c.node.attributes)) return std::nullopt;
  return SameAxis(c);
}

// Scale and zero point have one element, or one per row of `axis`. Blocked quantization is not divided.
Divided DivideQuantize(const DivideContext& c) {
  Division d = c.Whole();
  c.SameRows(d, 0, c.axis);
  for (int i = 1; i < c.inputs(); ++i) {
    if (!c.has(i) || c.shape(i).Elements() == 1) continue;
    if (c.shape(i).rank() != 1 || c.node.attributes.Int("block_size", 0) > 0) return std::nullopt;
    if (c.axis == c.AxisAttribute(c.output().rank())) c.SameRows(d, i, 0);
  }
  return d;
}

// A reduction along the axes in input 1, or along all axes if there are none.
Divided DivideReduce(const DivideContext& c) {
  const int rank = c.shape(0).rank();
  std::vector<bool> reduced(size_t(rank), false);
  Ints axes;
  if (c.has(1)) {
    const auto known = c.ints(1);
    if (!known) return std::nullopt;
    axes = *known;
  }
  for (int64_t axis : axes) reduced[size_t(Positive(axis, rank))] = true;
  if (axes.empty() && c.node.attributes.Int("noop_with_empty_axes", 0) == 0) return std::nullopt;
  const bool keep = c.node.attributes.Int("keepdims", 1) != 0;
  int out = 0;  // the output's axis that input axis i becomes
  for (int i = 0; i < rank; ++i) {
    if (!reduced[size_t(i)] && out == c.axis) {
      Division d = c.Whole();
      c.SameRows(d, 0, i);
      return d;
    }
    out += keep || !reduced[size_t(i)];
  }
  return std::nullopt;
}

}  // namespace mete
