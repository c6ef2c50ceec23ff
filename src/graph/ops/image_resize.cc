// Resize: output sizes from scales or from sizes, and checks of its many modes.
#include <algorithm>
#include <cmath>

#include "graph/ops/tensor_rules.h"

namespace mete {
namespace {

bool OneOf(std::string_view value, std::initializer_list<std::string_view> allowed) {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

void CheckModes(const InferContext& c) {
  const auto mode = c.attributes.String("mode", "nearest");
  if (!OneOf(mode, {"nearest", "linear", "cubic"}))
    c.Bad("mode is unknown; got {}, expected nearest, linear or cubic", mode);
  const auto nearest = c.attributes.String("nearest_mode", "round_prefer_floor");
  if (!OneOf(nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}))
    c.Bad("nearest_mode is unknown; got {}", nearest);
  const auto coordinates = c.attributes.String("coordinate_transformation_mode", "half_pixel");
  if (!OneOf(coordinates, {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                           "asymmetric", "tf_crop_and_resize"}))
    c.Bad("coordinate_transformation_mode is unknown; got {}", coordinates);
  const auto policy = c.attributes.String("keep_aspect_ratio_policy", "stretch");
  if (!OneOf(policy, {"stretch", "not_larger", "not_smaller"}))
    c.Bad("keep_aspect_ratio_policy is unknown; got {}", policy);
  if (mode != "nearest") NeedType(c, 0, kNumericTypes);
  else if (c.attributes.Int("antialias", 0) != 0) c.Bad("antialias needs mode linear or cubic; got nearest");
}

// Older models give an empty list instead of omitting an input.
bool Given(const InferContext& c, int i) { return c.has(i) && c.shape(i).Elements() > 0; }

void NeedLength(const InferContext& c, int i, size_t length) {
  if (c.shape(i) != Shape{int64_t(length)})
    c.Bad("input {} has the wrong shape; got {}, expected {}", i, ToString(c.shape(i)), length);
}

void ApplyScales(const InferContext& c, const Ints& axes, Shape& out) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const float scale = c.data(2).as<float>()[i];
    int64_t& dim = out[int(axes[i])];
    // The product is computed in float, as in other engines: 0.7f * 10 must be 7.
    const float scaled = std::floor(scale * float(dim));
    if (!(scale > 0) || !(scaled < 0x1p62f))
      c.Bad("scale is impossible; got {} for dimension {} of {}", scale, axes[i], dim);
    dim = int64_t(scaled);
  }
}

void ApplySizes(const InferContext& c, const Ints& axes, const Ints& sizes, Shape& out) {
  const auto policy = c.attributes.String("keep_aspect_ratio_policy", "stretch");
  double least = INFINITY, most = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t dim = out[int(axes[i])];
    if (sizes[i] < 0 || (dim == 0 && sizes[i] > 0))
      c.Bad("size is impossible; got {} for dimension {} of {}", sizes[i], axes[i], dim);
    if (dim == 0 && policy != "stretch")
      c.Bad("an empty dimension has no aspect ratio; got {}", ToString(out));
    const double scale = dim == 0 ? 1 : double(sizes[i]) / double(dim);
    least = std::min(least, scale);
    most = std::max(most, scale);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t& dim = out[int(axes[i])];
    const double kept = std::floor((policy == "not_larger" ? least : most) * double(dim) + 0.5);
    if (!(kept < 0x1p62)) c.Bad("size is impossible; got {}", kept);
    dim = policy == "stretch" ? sizes[i] : int64_t(kept);
  }
}

}  // namespace

void InferResize(InferContext& c) {
  CheckModes(c);
  Shape out = c.shape(0);
  const Ints axes =
      c.attributes.Has("axes") ? CheckAxes(c, c.attributes.IntList("axes"), out.rank()) : AllAxes(out.rank());
  if (c.attributes.String("coordinate_transformation_mode", "") == "tf_crop_and_resize") {
    if (!Given(c, 1)) c.Bad("tf_crop_and_resize needs roi");
    NeedType(c, 1, kFloatTypes);
    NeedLength(c, 1, 2 * axes.size());
  }
  if (Given(c, 2) == Given(c, 3) && !axes.empty())
    c.Bad("needs either scales or sizes; got {}", Given(c, 2) ? "both" : "neither");
  if (Given(c, 2)) {
    NeedType(c, 2, TypeBit(DType::kF32));
    NeedLength(c, 2, axes.size());
    if (!c.has_data(2)) return c.OutputUnknown(0, c.type(0));
    ApplyScales(c, axes, out);
  } else if (Given(c, 3)) {
    NeedLength(c, 3, axes.size());
    const auto sizes = ShortList(c, 3);
    if (!sizes) return c.OutputUnknown(0, c.type(0));
    ApplySizes(c, axes, *sizes, out);
  }
  c.Output(0, c.type(0), out);
}

}  // namespace mete
