// Operators that take elements from other places of the same tensor: slices, pads, tiles, blocks.
#include <algorithm>

#include "graph/ops/tensor_rules.h"

namespace mete {
namespace {

// Returns the number of elements of [start, end) by `step`, with both bounds clamped to the dimension as ONNX
// requires. Models write INT64_MIN and INT64_MAX for open bounds, so no operation here may overflow.
int64_t SliceLength(int64_t start, int64_t end, int64_t step, int64_t dim) {
  if (dim == 0) return 0;
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  step = std::clamp(step, -dim, dim);
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, dim);
    end = std::clamp<int64_t>(end, 0, dim);
    return end > start ? 1 + (end - start - 1) / step : 0;
  }
  start = std::clamp<int64_t>(start, 0, dim - 1);
  end = std::clamp<int64_t>(end, -1, dim - 1);
  return start > end ? 1 + (start - end - 1) / -step : 0;
}

// Returns the axes of an optional list input, or the first `count` axes if the input is omitted.
std::optional<Ints> AxesInput(const InferContext& c, int i, int rank, int count) {
  if (!c.has(i)) {
    if (count > rank) c.Bad("more axes than dimensions; got {}, expected at most {}", count, rank);
    return AllAxes(count);
  }
  NeedType(c, i, kIndexTypes);
  const auto axes = ShortList(c, i);
  if (!axes) return std::nullopt;
  return CheckAxes(c, *axes, rank);
}

struct Block {
  int height, width, channel;  // the indices of these dimensions in the 4-D input
  int64_t size;
};

Block BlockOf(const InferContext& c) {
  c.NeedRank(0, 4, 4);
  const bool nhwc = c.attributes.String("layout", "") == "NHWC";
  const Block b = nhwc ? Block{1, 2, 3, c.attributes.Int("blocksize", 0)}
                       : Block{2, 3, 1, c.attributes.Int("blocksize", 0)};
  if (b.size <= 0 || b.size > INT32_MAX) c.Bad("blocksize is impossible; got {}", b.size);
  return b;
}

}  // namespace

void InferSlice(InferContext& c) {
  Shape out = c.shape(0);
  for (int i = 1; i < c.inputs(); ++i)
    if (c.has(i)) NeedType(c, i, kIndexTypes);
  const auto starts = ShortList(c, 1), ends = ShortList(c, 2);
  const int64_t count = c.shape(1).Elements();
  const auto axes = AxesInput(c, 3, out.rank(), int(count));
  const auto steps = c.has(4) ? ShortList(c, 4) : Ints(size_t(count), 1);
  if (!starts || !ends || !axes || !steps) return c.OutputUnknown(0, c.type(0));
  if (ends->size() != starts->size() || axes->size() != starts->size() || steps->size() != starts->size())
    c.Bad("starts, ends, axes and steps differ in length; got {}, {}, {} and {}", starts->size(),
          ends->size(), axes->size(), steps->size());
  for (size_t i = 0; i < axes->size(); ++i) {
    if ((*steps)[i] == 0) c.Bad("step is impossible for axis {}; got 0, expected another number", (*axes)[i]);
    int64_t& dim = out[int((*axes)[i])];
    dim = SliceLength((*starts)[i], (*ends)[i], (*steps)[i], dim);
  }
  c.Output(0, c.type(0), out);
}

void InferTile(InferContext& c) {
  Shape out = c.shape(0);
  const auto repeats = ShortList(c, 1);
  if (!repeats) return c.OutputUnknown(0, c.type(0));
  if (int(repeats->size()) != out.rank())
    c.Bad("repeats has the wrong length; got {}, expected {}", repeats->size(), out.rank());
  for (int i = 0; i < out.rank(); ++i) {
    if ((*repeats)[size_t(i)] < 0) c.Bad("repeats must not be negative; got {}", (*repeats)[size_t(i)]);
    out[i] = CheckedMul(c, out[i], (*repeats)[size_t(i)]);
  }
  c.Output(0, c.type(0), out);
}

void InferPad(InferContext& c) {
  Shape out = c.shape(0);
  const auto mode = c.attributes.String("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    c.Bad("mode is unknown; got {}, expected constant, reflect, edge or wrap", mode);
  if (c.has(2)) {
    NeedSameType(c, 0, 2);
    NeedScalar(c, 2);
  }
  const auto pads = ShortList(c, 1);
  const auto axes = AxesInput(c, 3, out.rank(), out.rank());
  if (!pads || !axes) return c.OutputUnknown(0, c.type(0));
  const size_t n = axes->size();
  if (pads->size() != 2 * n) c.Bad("pads has the wrong length; got {}, expected {}", pads->size(), 2 * n);
  for (size_t i = 0; i < n; ++i) {
    const int64_t dim = out[int((*axes)[i])];
    const int64_t padded = CheckedAdd(c, CheckedAdd(c, dim, (*pads)[i]), (*pads)[n + i]);
    if (padded < 0)
      c.Bad("pads remove more than there is; got {} and {} for dimension {} of {}", (*pads)[i],
            (*pads)[n + i], (*axes)[i], dim);
    if (dim == 0 && padded > 0 && mode != "constant")
      c.Bad("mode {} has nothing to repeat in dimension {}", mode, (*axes)[i]);
    out[int((*axes)[i])] = padded;
  }
  c.Output(0, c.type(0), out);
}

void InferCenterCropPad(InferContext& c) {
  Shape out = c.shape(0);
  NeedType(c, 1, kIndexTypes);
  const Ints& given = c.attributes.IntList("axes");
  const Ints axes = c.attributes.Has("axes") ? CheckAxes(c, given, out.rank()) : AllAxes(out.rank());
  const auto dims = ShortList(c, 1);
  if (!dims) return c.OutputUnknown(0, c.type(0));
  if (dims->size() != axes.size())
    c.Bad("shape has the wrong length; got {}, expected {}", dims->size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) out[int(axes[i])] = (*dims)[i];
  c.Output(0, c.type(0), out);
}

void InferDepthToSpace(InferContext& c) {
  const Block b = BlockOf(c);
  const auto mode = c.attributes.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") c.Bad("mode is unknown; got {}, expected DCR or CRD", mode);
  Shape out = c.shape(0);
  if (out[b.channel] % (b.size * b.size) != 0)
    c.Bad("channels do not divide by blocksize squared; got {}, blocksize {}", out[b.channel], b.size);
  out[b.channel] /= b.size * b.size;
  out[b.height] = CheckedMul(c, out[b.height], b.size);
  out[b.width] = CheckedMul(c, out[b.width], b.size);
  c.Output(0, c.type(0), out);
}

void InferSpaceToDepth(InferContext& c) {
  const Block b = BlockOf(c);
  Shape out = c.shape(0);
  if (out[b.height] % b.size != 0 || out[b.width] % b.size != 0)
    c.Bad("height and width do not divide by blocksize; got {}, blocksize {}", ToString(out), b.size);
  out[b.channel] = CheckedMul(c, out[b.channel], b.size * b.size);
  out[b.height] /= b.size;
  out[b.width] /= b.size;
  c.Output(0, c.type(0), out);
}

void InferReverseSequence(InferContext& c) {
  c.NeedRank(0, 2);
  NeedType(c, 1, kIndexTypes);
  const int64_t batch = c.attributes.Int("batch_axis", 1), time = c.attributes.Int("time_axis", 0);
  if (batch == time || batch < 0 || batch > 1 || time < 0 || time > 1)
    c.Bad("batch_axis and time_axis must be 0 and 1; got {} and {}", batch, time);
  if (c.shape(1) != Shape{c.shape(0)[int(batch)]})
    c.Bad("sequence_lens has the wrong shape; got {}, expected {}", ToString(c.shape(1)),
          c.shape(0)[int(batch)]);
  c.Output(0, c.type(0), c.shape(0));
}

}  // namespace mete
