#include "passes/depth_taps.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace mete {
namespace {

// The most taps along the depth, each of which has nodes of its own. A guess: networks that make patches of
// videos have 16 at most.
constexpr int64_t kMostTaps = 32;

const Ints kDepthFirst = {2, 0, 1, 3, 4},
           kDepthThird = {1, 2, 0, 3, 4};  // `perm` of a Transpose to either order

Shape DepthFirst(const Shape& volume) { return {volume[2], volume[0], volume[1], volume[3], volume[4]}; }

Attributes Perm(const Ints& perm) {
  Attributes a;
  a.Set("perm", perm);
  return a;
}

// The second input of the views between D x N x C x H x W and D * N x C x H x W. Of a batch of one they add
// or remove a dimension, which holds for every size of the volume.
ValueId ViewInput(Graph& graph, const std::string& name, int64_t batch, const Shape& to) {
  return AddInts(graph, name + ".to", batch == 1 ? Ints{1} : Ints(to.begin(), to.end()));
}

ValueId Padded(Graph& graph, const std::string& name, SlicesOfBatch slices, const WindowAxis& depth,
               float fill) {
  const int64_t begin = depth.pad * slices.batch, end = PadEnd(depth) * slices.batch;
  if (begin == 0 && end == 0) return slices.id;
  Shape shape = graph.value(slices.id).shape;
  shape[0] += begin + end;
  std::vector<ValueId> inputs = {slices.id,
                                 AddInts(graph, name + ".pads", Ints{begin, 0, 0, 0, end, 0, 0, 0})};
  if (fill != 0) inputs.push_back(graph.AddConstant(name + ".fill", Tensor::Floats({}, {&fill, 1})));
  return AddMade(graph, "Pad", name, std::move(inputs), shape);
}

// The slices from index `first` of a dimension on, `step` apart, without the last ones.
struct Cut {
  int64_t first, left_out, step;
};

ValueId Sliced(Graph& graph, const std::string& name, ValueId from, const Cut& cut, int64_t count) {
  if (cut.first == 0 && cut.left_out == 0 && cut.step == 1) return from;
  Shape shape = graph.value(from).shape;
  shape[0] = count;
  // The end counts from behind, so that it holds for every depth.
  const auto one = [&](const char* what, int64_t value) { return AddInts(graph, name + what, Ints{value}); };
  std::vector<ValueId> inputs = {from, one(".start", cut.first),
                                 one(".end", cut.left_out > 0 ? -cut.left_out : INT64_MAX), one(".axis", 0)};
  if (cut.step > 1) inputs.push_back(one(".step", cut.step));
  return AddMade(graph, "Slice", name, std::move(inputs), shape);
}

}  // namespace

ValueId AddMade(Graph& graph, const std::string& op, const std::string& name, std::vector<ValueId> inputs,
                Shape shape, Attributes attributes) {
  const ValueId made = graph.AddValue(name + ".made", graph.value(inputs[0]).type, shape);
  graph.AddNode(op, name, std::move(inputs), {made}, std::move(attributes));
  return made;
}

ValueId AddReshape(Graph& graph, const std::string& name, ValueId from, const Shape& to) {
  return AddMade(graph, "Reshape", name, {from, AddInts(graph, name + ".to", Ints(to.begin(), to.end()))},
                 to);
}

ValueId CutVolume(Graph& graph, ValueId volume) {
  const Shape shape = graph.value(volume).shape;
  const std::string name = graph.value(volume).name + ".cut";
  const ValueId deep = AddMade(graph, "Transpose", name, {volume}, DepthFirst(shape), Perm(kDepthFirst));
  const ValueId to = ViewInput(graph, name + ".slices", shape[0], ShapeOfSlices(shape));
  return AddMade(graph, shape[0] == 1 ? "Squeeze" : "Reshape", name + ".slices", {deep, to},
                 ShapeOfSlices(shape));
}

void JoinSlices(Graph& graph, ValueId slices, ValueId volume) {
  const Shape shape = graph.value(volume).shape;
  const std::string name = graph.value(volume).name + ".joined";
  const ValueId to = ViewInput(graph, name + ".depths", shape[0], DepthFirst(shape));
  const ValueId deep = AddMade(graph, shape[0] == 1 ? "Unsqueeze" : "Reshape", name + ".depths", {slices, to},
                               DepthFirst(shape));
  graph.AddNode("Transpose", name, {deep}, {volume}, Perm(kDepthThird));
}

ValueId AsDepths(Graph& graph, const std::string& name, SlicesOfBatch slices) {
  if (slices.batch == 1) return slices.id;
  const Shape s = graph.value(slices.id).shape;
  return AddReshape(graph, name + ".depths", slices.id,
                    {s[0] / slices.batch, slices.batch * s[1], s[2], s[3]});
}

ValueId AsSlices(Graph& graph, const std::string& name, SlicesOfBatch depths) {
  if (depths.batch == 1) return depths.id;
  const Shape s = graph.value(depths.id).shape;
  return AddReshape(graph, name + ".slices", depths.id,
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
  Attributes a = attributes;
  for (const char* name : {"kernel_shape", "strides", "dilations", "output_padding"})
    if (const Ints& given = a.IntList(name); !given.empty()) a.Set(name, Ints{given[1], given[2]});
  if (const Ints& pads = a.IntList("pads"); !pads.empty())
    a.Set("pads", Ints{pads[1], pads[2], pads[4], pads[5]});
  return a;
}

int64_t PadEnd(const WindowAxis& depth) {
  const int64_t read = (depth.out - 1) * depth.stride + depth.extent();
  return std::max<int64_t>(0, read - depth.pad - depth.in);
}

DepthTaps::DepthTaps(Graph& graph, std::string name, SlicesOfBatch slices, const WindowAxis& depth,
                     float fill)
    : graph_(graph),
      name_(std::move(name)),
      depth_(depth),
      padded_{Padded(graph, name_ + ".pad", slices, depth, fill), slices.batch} {}

ValueId DepthTaps::Add(int64_t k) const {
  const std::string tap = name_ + ".depth" + std::to_string(k);
  const int64_t first = k * depth_.dilation, last = first + (depth_.out - 1) * depth_.stride;
  const int64_t left_out = depth_.pad + depth_.in + PadEnd(depth_) - 1 - last, batch = padded_.batch;
  if (depth_.stride == 1 || depth_.out == 1)
    return Sliced(graph_, tap, padded_.id, {first * batch, left_out * batch, 1}, depth_.out * batch);
  const ValueId depths = AsDepths(graph_, tap, padded_);
  const ValueId strided = Sliced(graph_, tap, depths, {first, left_out, depth_.stride}, depth_.out);
  return AsSlices(graph_, tap, {strided, batch});
}

}  // namespace mete
