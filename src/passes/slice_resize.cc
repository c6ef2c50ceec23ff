#include "passes/slice_resize.h"

#include <algorithm>

#include "base/resize.h"
#include "passes/made_nodes.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// Inputs of a Resize.
constexpr size_t kScales = 2, kSizes = 3;

// Returns which input says how far the axes change.
size_t FactorsOf(const Graph& graph, const Node& node) {
  const ValueId scales = node.input(kScales);
  const bool empty = IsConstant(graph, scales) && graph.value(scales).constant.elements() == 0;
  return scales == kNoValue || empty ? kSizes : kScales;
}

// Returns the place of an axis in the scales or sizes, or -1 if the node does not name it.
int64_t PlaceOf(const Node& node, int64_t axis) {
  if (!node.attributes.Has("axes")) return axis;
  const Ints& axes = node.attributes.IntList("axes");
  const auto at =
      std::find_if(axes.begin(), axes.end(), [&](int64_t a) { return (a < 0 ? a + 5 : a) == axis; });
  return at == axes.end() ? -1 : at - axes.begin();
}

bool Moves(const Graph& graph, const Node& node, int axis) {
  const bool other = graph.value(node.inputs[0]).shape[axis] != graph.value(node.outputs[0]).shape[axis];
  const int64_t place = PlaceOf(node, axis);
  if (other || place < 0 || FactorsOf(graph, node) != kScales) return other;
  return graph.value(node.inputs[kScales]).constant.as<float>()[place] != 1;
}

// Adds the node that resizes `axes` of the volume, which are those of `from` less `shift`.
ValueId AddResize(Graph& graph, const Node& node, const char* suffix, ValueId from, const Ints& axes,
                  int64_t shift) {
  const size_t given = FactorsOf(graph, node);
  const Tensor factors = graph.value(node.inputs[given]).constant;
  Shape shape = graph.value(from).shape;
  Ints moved, sizes;
  std::vector<float> scales;
  for (const int64_t axis : axes) {
    moved.push_back(axis - shift);
    sizes.push_back(graph.value(node.outputs[0]).shape[int(axis)]);
    shape[int(axis - shift)] = sizes.back();
    if (given == kScales) scales.push_back(factors.as<float>()[PlaceOf(node, axis)]);
  }
  Attributes attributes = node.attributes;
  attributes.Set("axes", std::move(moved));
  const std::string name = node.name + suffix;
  std::vector<ValueId> inputs(given + 1, kNoValue);
  inputs[0] = from;
  inputs[given] = given == kScales
                      ? graph.AddConstant(name + ".scales", Tensor::Floats({int64_t(scales.size())}, scales))
                      : AddList(graph, name, ".sizes", sizes);
  return AddMade(graph, "Resize", name, "", inputs, shape, &attributes);
}

}  // namespace

std::optional<SliceResize> SliceResizeOf(const Graph& graph, const Node& node) {
  const Attributes& a = node.attributes;
  const size_t given = FactorsOf(graph, node);
  if (node.input(given) == kNoValue || !IsConstant(graph, node.inputs[given])) return std::nullopt;
  if (given == kScales && !IsF32(graph, node.inputs[kScales])) return std::nullopt;
  if (a.String("mode", "nearest") == "cubic" || a.Int("antialias", 0) != 0 ||
      a.String("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize" ||
      a.String("keep_aspect_ratio_policy", "stretch") != "stretch")
    return std::nullopt;
  SliceResize resize;
  for (int axis = 0; axis < 5; ++axis) {
    if (!Moves(graph, node, axis)) continue;
    if (axis < 2) return std::nullopt;
    (axis == 2 ? resize.depth : resize.image).push_back(axis);
  }
  if (resize.depth.empty() && resize.image.empty()) return std::nullopt;
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape;
  // The value between is the smaller one of the two that are possible.
  const double deeper = double(y[2]) / double(x[2]),
               wider = double(y[3]) * double(y[4]) / (double(x[3]) * double(x[4]));
  resize.depth_first = deeper <= wider;
  // The kernel resizes two neighbouring axes of pixels, here of whole rows.
  resize.has_fast_kernel = !resize.depth.empty() && (resize.image.empty() || resize.image == Ints{3}) &&
                           x[4] >= kLeastResizedPixel;
  return resize;
}

ValueId AddSliceResize(Graph& graph, const Node& node, const SliceResize& resize, SlicesOfBatch slices) {
  const auto along_depth = [&](ValueId from) {
    if (resize.depth.empty()) return from;
    const std::string name = node.name + ".deep";
    const ValueId depths = AsDepths(graph, name, {from, slices.batch});
    return AsSlices(graph, name, {AddResize(graph, node, ".depth", depths, resize.depth, 2), slices.batch});
  };
  const auto of_images = [&](ValueId from) {
    return resize.image.empty() ? from : AddResize(graph, node, "", from, resize.image, 1);
  };
  return resize.depth_first ? of_images(along_depth(slices.id)) : along_depth(of_images(slices.id));
}

}  // namespace mete
