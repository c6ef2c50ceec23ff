#include "passes/depth_taps.h"

#include <algorithm>
#include <variant>

#include "base/fused.h"
#include "passes/made_nodes.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

Shape DepthFirst(const Shape& volume) { return {volume[2], volume[0], volume[1], volume[3], volume[4]}; }

// A view between D x N x C x H x W and D * N x C x H x W. Of a batch of one it adds or removes a dimension,
// which holds for every size of the volume.
ValueId AddView(Graph& graph, const char* op_of_one, const std::string& name, const char* suffix,
                ValueId from, const Shape& to, int64_t batch) {
  if (batch > 1) return AddReshape(graph, name, suffix, from, to);
  return AddMade(graph, op_of_one, name, suffix, {from, AddInt(graph, name, ".axis", 1)}, to);
}

ValueId Padded(Graph& graph, const std::string& name, SlicesOfBatch slices, const WindowAxis& depth,
               ValueId fill) {
  const int64_t begin = depth.pad * slices.batch, end = PadEnd(depth) * slices.batch;
  if (begin == 0 && end == 0) return slices.id;
  Shape shape = graph.value(slices.id).shape;
  shape[0] += begin + end;
  const int64_t pads[] = {begin, 0, 0, 0, end, 0, 0, 0};
  const ValueId inputs[] = {slices.id, AddList(graph, name, ".pads", pads), fill};
  return AddMade(graph, "Pad", name, ".pad", std::span(inputs, fill == kNoValue ? 2 : 3), shape);
}

}  // namespace

ValueId CutVolume(Graph& graph, ValueId volume) {
  const Shape shape = graph.value(volume).shape;
  const std::string name = graph.value(volume).name + ".cut";
  const ValueId deep = AddTranspose(graph, name, "", volume, {2, 0, 1, 3, 4});
  return AddView(graph, "Squeeze", name, ".slices", deep, ShapeOfSlices(shape), shape[0]);
}

void JoinSlices(Graph& graph, ValueId slices, ValueId volume) {
  const Shape shape = graph.value(volume).shape;
  const std::string name = graph.value(volume).name + ".joined";
  const ValueId deep = AddView(graph, "Unsqueeze", name, ".depths", slices, DepthFirst(shape), shape[0]);
  AddTranspose(graph, name, "", deep, {1, 2, 0, 3, 4});
  graph.nodes.back().outputs[0] = volume;  // which has a name and readers
}

ValueId CutSlices(Graph& graph, const std::string& name, ValueId from, const Cut& cut, int64_t count) {
  if (cut.first == 0 && cut.left_out == 0 && cut.step == 1) return from;
  Shape shape = graph.value(from).shape;
  shape[0] = count;
  // The end counts from behind, so that it holds for every depth. With a step it does not, as the remainder
  // of the depth decides what the last window leaves out; then the end counts from the front, which differs
  // between depths, so that the passes run for each (passes/open_graph.cc compares the constants of two
  // sizes).
  const int64_t from_behind = cut.left_out > 0 ? -cut.left_out : INT64_MAX;
  const int64_t end = cut.step > 1 ? cut.first + (count - 1) * cut.step + 1 : from_behind;
  return AddMade(graph, "Slice", name, "",
                 {from, AddInt(graph, name, ".start", cut.first), AddInt(graph, name, ".end", end),
                  AddInt(graph, name, ".axis", 0), AddInt(graph, name, ".step", cut.step)},
                 shape);
}

ValueId AsDepths(Graph& graph, const std::string& name, SlicesOfBatch slices) {
  if (slices.batch == 1) return slices.id;
  const Shape s = graph.value(slices.id).shape;
  return AddReshape(graph, name, ".depths", slices.id,
                    {s[0] / slices.batch, slices.batch * s[1], s[2], s[3]});
}

ValueId AsSlices(Graph& graph, const std::string& name, SlicesOfBatch depths) {
  if (depths.batch == 1) return depths.id;
  const Shape s = graph.value(depths.id).shape;
  return AddReshape(graph, name, ".slices", depths.id,
                    {s[0] * depths.batch, s[1] / depths.batch, s[2], s[3]});
}

std::optional<Window> WindowOfTaps(const Attributes& attributes, const Shape& x, const Ints& kernel,
                                   WindowKind kind) {
  Window window;
  if (!ResolveWindow(attributes, ImageDimsOf(x), kernel, kind, window).empty()) return std::nullopt;
  const WindowAxis& depth = window[0];
  // Padding beyond what the taps of a window read would be memory without a bound.
  const bool bounded = depth.pad + PadEnd(depth) <= depth.in + kMostTaps;
  return depth.kernel <= kMostTaps && bounded ? std::optional(window) : std::nullopt;
}

Attributes OfSlices(const Attributes& attributes) {
  Attributes a;
  for (const Attributes::Item& item : attributes) {
    const Ints* list = std::get_if<Ints>(&item.second);
    if (!list || item.first == kLevels) {
      a.Set(item.first, item.second);
      continue;
    }
    // `pads` has the paddings at the beginnings and those at the ends, the others one value for each axis
    Ints of_slices;
    for (size_t i = 0; i < list->size(); ++i)
      if (i % 3 != 0) of_slices.push_back((*list)[i]);
    a.Set(item.first, std::move(of_slices));
  }
  return a;
}

int64_t PadEnd(const WindowAxis& depth) {
  const int64_t read = (depth.out - 1) * depth.stride + depth.extent();
  return std::max<int64_t>(0, read - depth.pad - depth.in);
}

DepthTaps::DepthTaps(Graph& graph, std::string name, SlicesOfBatch slices, const WindowAxis& depth,
                     ValueId fill)
    : graph_(graph),
      name_(std::move(name)),
      depth_(depth),
      padded_{Padded(graph, name_, slices, depth, fill), slices.batch} {}

ValueId DepthTaps::Add(int64_t k) const {
  const std::string tap = name_ + ".depth" + std::to_string(k);
  const int64_t first = k * depth_.dilation, last = first + (depth_.out - 1) * depth_.stride;
  const int64_t left_out = depth_.pad + depth_.in + PadEnd(depth_) - 1 - last, batch = padded_.batch;
  if (depth_.stride == 1 || depth_.out == 1)
    return CutSlices(graph_, tap, padded_.id, {first * batch, left_out * batch, 1}, depth_.out * batch);
  const ValueId depths = AsDepths(graph_, tap, padded_);
  const ValueId strided = CutSlices(graph_, tap, depths, {first, left_out, depth_.stride}, depth_.out);
  return AsSlices(graph_, tap, {strided, batch});
}

}  // namespace mete
