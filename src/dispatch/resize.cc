#include "dispatch/resize.h"

#include <algorithm>
#include <cmath>

#include "base/resize.h"
#include "dispatch/reason.h"
#include "dispatch/resize_shape.h"

namespace mete {
namespace {

// Returns the place of an axis in attribute `axes`, which names those that are resized, or -1 if it is none.
// Without the attribute all axes are resized.
int PlaceOf(const Attributes& attributes, int axis, int rank) {
  if (!attributes.Has("axes")) return axis;
  const Ints& axes = attributes.IntList("axes");
  const auto is_axis = [&](int64_t a) { return (a < 0 ? a + rank : a) == axis; };
  const auto at = std::find_if(axes.begin(), axes.end(), is_axis);
  return at == axes.end() ? -1 : int(at - axes.begin());
}

// Returns an axis of the input as the node resizes it, or nothing if its scale is not known.
std::optional<ResizedAxis> AxisOf(const Graph& graph, const Node& node, int axis) {
  const Shape& shape = graph.value(node.inputs[0]).shape;
  const int64_t in = shape[axis], out = graph.value(node.outputs[0]).shape[axis];
  ResizedAxis result{in, out, double(out) / double(in)};
  const int place = PlaceOf(node.attributes, axis, shape.rank());
  const ValueId scales = node.input(2);
  if (place < 0 || scales == kNoValue || graph.value(scales).shape.Elements() == 0) return result;
  if (!IsConstant(graph, scales) || !IsF32(graph, scales)) return std::nullopt;
  result.scale = graph.value(scales).constant.as<float>()[place];
  return result;
}

// A weight of a linear resize is 1 less the distance, and pixels beyond the edge are those of the edge.
std::vector<ResizeSource> SourcesOf(const ResizedAxis& axis, const Attributes& attributes, bool nearest) {
  const auto mode = attributes.String("coordinate_transformation_mode", "half_pixel");
  const auto rounding = attributes.String("nearest_mode", "round_prefer_floor");
  std::vector<ResizeSource> sources;
  for (int64_t i = 0; i < axis.out; ++i) {
    if (axis.identity()) {
      sources.push_back({i, i, 1, 0});
      continue;
    }
    const double x = ResizeCoordinate(axis, mode, i);
    if (nearest) {
      sources.push_back({NearestResizePixel(x, rounding, axis.in)});
      continue;
    }
    const int64_t whole = WholePixel(x);
    const double part = x - double(whole);
    const auto clamped = [&](int64_t pixel) { return std::clamp<int64_t>(pixel, 0, axis.in - 1); };
    sources.push_back({clamped(whole), clamped(whole + 1), float(1 - part), float(part)});
  }
  return sources;
}

}  // namespace

std::optional<ResizeShape> ResizeShapeOf(const Graph& graph, const Node& node, std::string* why) {
  const Attributes& a = node.attributes;
  const Shape &in = graph.value(node.inputs[0]).shape, &out = graph.value(node.outputs[0]).shape;
  const auto mode = a.String("mode", "nearest");
  if (!IsF32(graph, node.inputs[0])) return No("not f32", why);
  if (!in.known() || !out.known()) return No("the output's shape depends on data", why);
  if (out.Elements() == 0) return No("nothing to compute", why);
  if (mode == "cubic" || a.Int("antialias", 0) != 0 || a.Int("exclude_outside", 0) != 0)
    return No("a filter without a fast form", why);
  if (a.String("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize" ||
      a.String("keep_aspect_ratio_policy", "stretch") != "stretch")
    return No("a crop, or a kept aspect ratio", why);
  std::vector<ResizedAxis> axes;
  int first = in.rank(), last = -1;  // the axes that change
  for (int i = 0; i < in.rank(); ++i) {
    const auto axis = AxisOf(graph, node, i);
    if (!axis) return No("the scales are computed", why);
    if (!axis->identity()) {
      first = std::min(first, i);
      last = i;
    }
    axes.push_back(*axis);
  }
  if (last == first && first == in.rank() - 1 && first > 0) --first;  // the last axis alone
  if (last < 0 || last > first + 1 || first + 1 >= in.rank())
    return No("other axes than two neighbours change", why);
  ResizeShape s;
  s.nearest = mode == "nearest";
  s.images = in.Elements(0, first);
  s.in_height = in[first];
  s.in_width = in[first + 1];
  s.pixel = in.Elements(first + 2, in.rank());
  s.rows = SourcesOf(axes[size_t(first)], a, s.nearest);
  s.columns = SourcesOf(axes[size_t(first) + 1], a, s.nearest);
  return s;
}

std::optional<Resizing> ResizingOf(const Graph& graph, const Node& node, std::string* why) {
  auto shape = ResizeShapeOf(graph, node, why);
  if (!shape) return std::nullopt;
  if (shape->pixel < kLeastResizedPixel) return No("the pixels have few elements", why);
  return Resizing{std::move(*shape)};
}

}  // namespace mete
