// Operators that sample images: grids, regions, unpooling. Resize has its own file.
#include <cmath>

#include "graph/ops/tensor_rules.h"

namespace mete {
namespace {

void NeedOneOf(const InferContext& c, const char* name, std::string_view fallback,
               std::initializer_list<std::string_view> allowed) {
  const auto value = c.attributes.String(name, fallback);
  for (auto a : allowed)
    if (value == a) return;
  c.Bad("{} is unknown; got {}, expected one of {}", name, value, fmt::join(allowed, ", "));
}

void InferGridSample(InferContext& c) {
  const Shape &in = c.shape(0), &grid = c.shape(1);
  NeedType(c, 0, kNumericTypes);
  NeedType(c, 1, kFloatTypes);
  NeedOneOf(c, "mode", "linear", {"linear", "bilinear", "nearest", "cubic", "bicubic"});
  NeedOneOf(c, "padding_mode", "zeros", {"zeros", "border", "reflection"});
  c.NeedRank(0, 4, 5);
  c.NeedRank(1, in.rank(), in.rank());
  if (grid[0] != in[0] || grid.back() != in.rank() - 2)
    c.Bad("grid does not fit the input; got {} for {}, expected {} x ... x {}", ToString(grid), ToString(in),
          in[0], in.rank() - 2);
  Shape out{in[0], in[1]};
  for (int i = 1; i < grid.rank() - 1; ++i) out.push_back(grid[i]);
  for (int i = 2; i < in.rank(); ++i)
    if (in[i] == 0) c.Bad("input has no pixels to sample; got {}", ToString(in));
  c.Output(0, c.type(0), out);
}

void InferAffineGrid(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  c.NeedRank(0, 3, 3);
  const auto size = ShortList(c, 1);
  if (!size) return c.OutputUnknown(0, c.type(0));
  if (size->size() != 4 && size->size() != 5)
    c.Bad("size has the wrong length; got {}, expected 4 or 5", size->size());
  const int64_t dims = int64_t(size->size()) - 2;
  NeedShape(c, 0, {(*size)[0], dims, dims + 1});
  Shape out;
  for (size_t i = 0; i < size->size(); ++i)
    if (i != 1) Append(c, out, (*size)[i]);
  Append(c, out, dims);
  c.Output(0, c.type(0), out);
}

void InferRoiAlign(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  NeedSameType(c, 0, 1);
  NeedType(c, 2, kIndexTypes);
  NeedOneOf(c, "mode", "avg", {"avg", "max"});
  NeedOneOf(c, "coordinate_transformation_mode", "half_pixel", {"half_pixel", "output_half_pixel"});
  c.NeedRank(0, 4, 4);
  c.NeedRank(2, 1, 1);
  NeedShape(c, 1, {c.shape(2)[0], 4});
  const int64_t height = c.attributes.Int("output_height", 1), width = c.attributes.Int("output_width", 1);
  const int64_t ratio = c.attributes.Int("sampling_ratio", 0);
  if (height < 1 || width < 1 || ratio < 0 || ratio > INT16_MAX)
    c.Bad("output size or sampling_ratio is impossible; got {} x {} and {}", height, width, ratio);
  if (c.shape(0)[2] == 0 || c.shape(0)[3] == 0)
    c.Bad("input has no pixels to sample; got {}", ToString(c.shape(0)));
  c.Output(0, c.type(0), {c.shape(1)[0], c.shape(0)[1], height, width});
}

// The regions are rows of the number of an image and two corners.
void InferMaxRoiPool(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  NeedSameType(c, 0, 1);
  c.NeedRank(0, 4, 4);
  c.NeedRank(1, 2, 2);
  NeedShape(c, 1, {c.shape(1)[0], 5});
  const Ints& size = c.attributes.IntList("pooled_shape");
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    c.Bad("pooled_shape must be a height and a width from 1 on");
  if (!std::isfinite(c.attributes.Float("spatial_scale", 1))) c.Bad("spatial_scale must be a number");
  Shape out;
  for (const int64_t d : {c.shape(1)[0], c.shape(0)[1], size[0], size[1]}) Append(c, out, d);
  c.Output(0, c.type(0), out);
}

int64_t At(const InferContext& c, const char* name, size_t i, size_t count, int64_t fallback, int64_t least) {
  const Ints& list = c.attributes.IntList(name);
  if (list.empty()) return fallback;
  if (list.size() != count) c.Bad("{} has the wrong length; got {}, expected {}", name, list.size(), count);
  if (list[i] < least || list[i] > INT32_MAX) c.Bad("{} is impossible; got {}", name, list[i]);
  return list[i];
}

// Returns the smallest shape of an input that a max pooling with these attributes reduces to the shape of
// input 0.
Shape UnpooledShape(const InferContext& c) {
  const Shape& in = c.shape(0);
  const size_t n = size_t(in.rank() - 2);
  if (!c.attributes.Has("kernel_shape")) c.Bad("attribute kernel_shape is missing");
  Shape out{in[0], in[1]};
  for (size_t i = 0; i < n; ++i) {
    const int64_t kernel = At(c, "kernel_shape", i, n, 1, 1), stride = At(c, "strides", i, n, 1, 1);
    const int64_t pads = At(c, "pads", i, 2 * n, 0, 0) + At(c, "pads", n + i, 2 * n, 0, 0);
    Append(c, out, CheckedAdd(c, CheckedMul(c, in[int(i) + 2] - 1, stride), kernel - pads));
  }
  return out;
}

void InferMaxUnpool(InferContext& c) {
  c.NeedRank(0, 3);
  NeedType(c, 1, kIndexTypes);
  NeedShape(c, 1, c.shape(0));
  const Shape unpooled = UnpooledShape(c);
  if (!c.has(2)) return c.Output(0, c.type(0), unpooled);
  const auto asked = ShortList(c, 2);
  if (!asked) return c.OutputUnknown(0, c.type(0));
  const Shape out = ShapeFrom(c, *asked);
  bool fits = out.rank() == unpooled.rank();
  for (int i = 0; fits && i < out.rank(); ++i) fits = out[i] >= unpooled[i];
  if (!fits)
    c.Bad("output_shape is too small; got {}, expected at least {}", ToString(out), ToString(unpooled));
  c.Output(0, c.type(0), out);
}

constexpr OpSchema kImageOperators[] = {
    {"AffineGrid", 2, 2, 1, InferAffineGrid},
    {"GridSample", 2, 2, 1, InferGridSample},
    {"MaxRoiPool", 2, 2, 1, InferMaxRoiPool, {.arithmetic = Arithmetic::kSamples}},
    {"MaxUnpool", 2, 3, 1, InferMaxUnpool},
    {"Resize",
     1,
     4,
     1,
     InferResize,
     {.orders = Orders::kScales, .divide_by = DivideBy::kResize, .arithmetic = Arithmetic::kNeighbours}},
    {"RoiAlign", 3, 3, 1, InferRoiAlign, {.arithmetic = Arithmetic::kSamples}},
};

}  // namespace

std::span<const OpSchema> ImageOperators() { return kImageOperators; }

}  // namespace mete
