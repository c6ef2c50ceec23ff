// Operators that join, order or normalize elements along some axes: they divide along the others.
#include <algorithm>

#include "partition/rules.h"

namespace mete {
namespace {

std::optional<Division> SameAxis(const DivideContext& c) {
  Division d = c.Whole();
  c.SameRows(d, 0, c.axis);
  return d;
}

// Along attribute `axis` alone, the last one where it is left out.
std::optional<Division> AlongOne(const DivideContext& c) {
  if (c.axis == Positive(c.node.attributes.Int("axis", -1), c.output().rank())) return std::nullopt;
  return SameAxis(c);
}

// From attribute `axis` on; scale and bias belong to these axes. Mean and deviation, where asked for, have
// rows of the same axes.
std::optional<Division> FromAxis(const DivideContext& c) {
  if (c.axis >= Positive(c.node.attributes.Int("axis", -1), c.shape(0).rank())) return std::nullopt;
  Division d = c.Whole();
  c.SameRows(d, 0, c.axis);
  for (int i = 1; i < c.inputs(); ++i)
    if (c.has(i) && !c.Broadcast(d, i)) return std::nullopt;
  return d;
}

// Channels have their own numbers in inputs from 1 on.
std::optional<Division> ByChannel(const DivideContext& c) {
  Division d = c.Whole();
  c.SameRows(d, 0, c.axis);
  if (c.axis == 1)
    for (int i = 1; i < c.inputs(); ++i) c.SameRows(d, i, 0);
  return d;
}

std::optional<Division> BatchNormalization(const DivideContext& c) {
  const bool training = c.node.attributes.Int("training_mode", 0) != 0;  // by the moments of all rows
  if (training || IsNhwc(c.node.attributes) || c.node.outputs.size() > 1 || c.shape(0).rank() < 2)
    return std::nullopt;
  return ByChannel(c);
}

std::optional<Division> InstanceNormalization(const DivideContext& c) {
  if (c.axis > 1) return std::nullopt;
  return ByChannel(c);
}

std::optional<Division> OverChannels(const DivideContext& c) {
  if (c.axis == 1 || IsNhwc(c.node.attributes)) return std::nullopt;
  return SameAxis(c);
}

// One number for all, or one a row of `axis`. What has blocks is not divided.
std::optional<Division> Quantize(const DivideContext& c) {
  Division d = c.Whole();
  c.SameRows(d, 0, c.axis);
  for (int i = 1; i < c.inputs(); ++i) {
    if (!c.has(i) || c.shape(i).Elements() == 1) continue;
    if (c.shape(i).rank() != 1 || c.node.attributes.Int("block_size", 0) > 0) return std::nullopt;
    if (c.axis == Positive(c.node.attributes.Int("axis", 1), c.output().rank())) c.SameRows(d, i, 0);
  }
  return d;
}

// Axes in input 1, all where there are none.
std::optional<Division> Reduce(const DivideContext& c) {
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

constexpr DivideRule kRules[] = {
    {"Softmax", AlongOne},
    {"LogSoftmax", AlongOne},
    {"Hardmax", AlongOne},
    {"LpNormalization", AlongOne},
    {"LayerNormalization", FromAxis},
    {"RMSNormalization", FromAxis},
    {"BatchNormalization", BatchNormalization},
    {"InstanceNormalization", InstanceNormalization},
    {"LRN", OverChannels},
    {"QuantizeLinear", Quantize},
    {"DequantizeLinear", Quantize},
    {"ReduceL1", Reduce},
    {"ReduceL2", Reduce},
    {"ReduceLogSum", Reduce},
    {"ReduceLogSumExp", Reduce},
    {"ReduceMax", Reduce},
    {"ReduceMean", Reduce},
    {"ReduceMin", Reduce},
    {"ReduceProd", Reduce},
    {"ReduceSum", Reduce},
    {"ReduceSumSquare", Reduce},
};

}  // namespace

std::span<const DivideRule> AlongRules() { return kRules; }

}  // namespace mete
