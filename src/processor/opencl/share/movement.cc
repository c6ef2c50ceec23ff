#include <algorithm>

#include "base/window.h"
#include "processor/opencl/kernels/gather.h"
#include "processor/opencl/share/families.h"

namespace mete::opencl {
namespace {

std::vector<int64_t> SizesOf(const Shape& shape) { return {shape.begin(), shape.end()}; }

// The copy of all of `part` to or from the place in `whole` where it begins.
MapSpec PartOf(const Shape& whole, const Shape& part, const std::vector<int64_t>& begin) {
  MapSpec spec{.sizes = SizesOf(part),
               .inputs = {{.strides = DenseStrides(part)}},
               .output = {.strides = DenseStrides(whole)},
               .program = {}};
  for (size_t i = 0; i < begin.size(); ++i) spec.output.first += begin[i] * spec.output.strides[i];
  return spec;
}

MapSpec Reversed(MapSpec spec) {
  std::swap(spec.inputs[0], spec.output);
  return spec;
}

// Returns the axes that input `i` names, or the first `count` ones.
std::optional<Ints> AxesOf(const Graph& graph, const Node& node, size_t i, size_t count, const Shape& shape) {
  Ints axes(count);
  for (size_t a = 0; a < count; ++a) axes[a] = int64_t(a);
  if (node.input(i) == kNoValue) return axes;
  auto given = ListOf(graph, node.inputs[i]);
  if (!given) return std::nullopt;
  for (int64_t& axis : *given) axis = AxisOf(axis, shape);
  return given;
}

}  // namespace

std::string LowerView(Lowering& to, const Node& node) {
  to.Copy(to.Of(node.inputs[0]), to.Of(node.outputs[0]));
  return "";
}

std::string LowerCast(Lowering& to, const Node& node) {
  const DType from = to.value(node.inputs[0]).type, into = to.value(node.outputs[0]).type;
  const auto is_float = [](DType type) { return type == DType::kF32 || type == DType::kF16; };
  if (from != into && !(is_float(from) && is_float(into)))
    return std::string("no conversion from ") + Name(from) + " to " + Name(into);
  return LowerView(to, node);
}

std::string LowerTranspose(Lowering& to, const Node& node) {
  const Array input = to.Of(node.inputs[0]), output = to.Of(node.outputs[0]);
  if (input.buffer == output.buffer) return "";  // only dimensions of 1 move
  Ints perm = node.attributes.IntList("perm");
  if (perm.empty())
    for (int i = input.shape.rank(); i-- > 0;) perm.push_back(i);
  const std::vector<int64_t> strides = DenseStrides(input.shape);
  MapSpec spec{.sizes = SizesOf(output.shape),
               .inputs = {{}},
               .output = {.strides = DenseStrides(output.shape)},
               .program = {}};
  for (int64_t axis : perm) spec.inputs[0].strides.push_back(strides[size_t(axis)]);
  to.Move(input, output, std::move(spec));
  return "";
}

std::string LowerConcat(Lowering& to, const Node& node) {
  const Array output = to.Of(node.outputs[0]);
  const auto axis = size_t(AxisOf(node.attributes.Int("axis", 0), output.shape));
  std::vector<int64_t> begin(size_t(output.shape.rank()), 0);
  for (ValueId id : node.inputs) {
    const Array part = to.Of(id);
    if (part.elements() > 0) to.Move(part, output, PartOf(output.shape, part.shape, begin));
    begin[axis] += part.shape[int(axis)];
  }
  return "";
}

std::string LowerSplit(Lowering& to, const Node& node) {
  const Array input = to.Of(node.inputs[0]);
  const auto axis = size_t(AxisOf(node.attributes.Int("axis", 0), input.shape));
  std::vector<int64_t> begin(size_t(input.shape.rank()), 0);
  for (ValueId id : node.outputs) {
    if (id == kNoValue) return "a part is omitted";
    const Array part = to.Of(id);
    if (part.elements() > 0) to.Move(input, part, Reversed(PartOf(input.shape, part.shape, begin)));
    begin[axis] += part.shape[int(axis)];
  }
  return "";
}

std::string LowerSlice(Lowering& to, const Node& node) {
  const Graph& graph = to.graph();
  const Array input = to.Of(node.inputs[0]), output = to.Of(node.outputs[0]);
  const auto starts = ListOf(graph, node.inputs[1]);
  if (!starts) return "the begin is computed";
  const auto axes = AxesOf(graph, node, 3, starts->size(), input.shape);
  const auto steps = node.input(4) == kNoValue ? Ints(starts->size(), 1) : ListOf(graph, node.inputs[4]);
  if (!axes || !steps) return "the axes or steps are computed";
  MapSpec spec{.sizes = SizesOf(output.shape),
               .inputs = {{.strides = DenseStrides(input.shape)}},
               .output = {.strides = DenseStrides(output.shape)},
               .program = {}};
  for (size_t i = 0; i < starts->size(); ++i) {
    const int64_t axis = (*axes)[i], size = input.shape[int(axis)], step = (*steps)[i];
    const int64_t start = (*starts)[i] < 0 ? (*starts)[i] + size : (*starts)[i];
    int64_t& stride = spec.inputs[0].strides[size_t(axis)];
    spec.inputs[0].first += std::clamp<int64_t>(start, 0, step < 0 ? size - 1 : size) * stride;
    stride *= step;
  }
  to.Move(input, output, std::move(spec));
  return "";
}

std::string LowerPad(Lowering& to, const Node& node) {
  const Graph& graph = to.graph();
  if (node.attributes.String("mode", "constant") != "constant") return "the padding is no constant";
  const Array input = to.Of(node.inputs[0]), output = to.Of(node.outputs[0]);
  const auto pads = ListOf(graph, node.inputs[1]);
  if (!pads) return "the padding is computed";
  const auto axes = AxesOf(graph, node, 3, pads->size() / 2, input.shape);
  if (!axes) return "the axes are computed";
  const auto rank = size_t(input.shape.rank());
  const Array value = node.input(2) == kNoValue ? to.Constant(Tensor(to.value(node.inputs[0]).type, {}))
                                                : to.Of(node.inputs[2]);
  to.Move(value, output,
          {.sizes = {output.elements()},
           .inputs = {{.strides = {0}}},
           .output = {.strides = {1}},
           .program = {}});
  // A negative padding leaves elements out.
  std::vector<int64_t> begin(rank, 0), from(rank, 0);
  Shape kept = input.shape;
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = size_t((*axes)[i]);
    const int64_t before = (*pads)[i], after = (*pads)[i + axes->size()];
    begin[axis] = std::max<int64_t>(before, 0);
    from[axis] = std::max<int64_t>(-before, 0);
    kept[int(axis)] -= from[axis] + std::max<int64_t>(-after, 0);
  }
  if (std::any_of(kept.begin(), kept.end(), [](int64_t size) { return size <= 0; })) return "";
  MapSpec spec = PartOf(output.shape, kept, begin);
  spec.inputs[0].strides = DenseStrides(input.shape);
  for (size_t i = 0; i < rank; ++i) spec.inputs[0].first += from[i] * spec.inputs[0].strides[i];
  to.Move(input, output, std::move(spec));
  return "";
}

// Indices that are known only at run time may be wrong, which a kernel cannot say.
std::string LowerGather(Lowering& to, const Node& node) {
  const auto indices = ListOf(to.graph(), node.inputs[1]);
  if (!indices) return "the indices are computed";
  const Array input = to.Of(node.inputs[0]), output = to.Of(node.outputs[0]);
  const int axis = AxisOf(node.attributes.Int("axis", 0), input.shape);
  const int64_t size = input.shape[axis];
  const bool all_inside = std::all_of(indices->begin(), indices->end(),
                                      [&](int64_t index) { return index >= -size && index < size; });
  if (!all_inside) return "an index is outside the axis";
  const GatherSpec spec{.outer = input.shape.Elements(0, axis),
                        .axis = size,
                        .inner = input.shape.Elements(axis + 1, input.shape.rank()),
                        .indices = int64_t(indices->size()),
                        .type = output.type,
                        .index = to.value(node.inputs[1]).type};
  to.Launch(GatherKernel(spec, to.vector()), {to.As(input, output.type), to.Of(node.inputs[1]), output});
  return "";
}

std::string LowerExpand(Lowering& to, const Node& node) {
  const Array input = to.Of(node.inputs[0]), output = to.Of(node.outputs[0]);
  const std::vector<int64_t> sizes = SizesOf(output.shape);
  to.Move(input, output,
          {.sizes = sizes,
           .inputs = {{.strides = BroadcastStrides(input.shape.dims(), sizes)}},
           .output = {.strides = DenseStrides(output.shape)},
           .program = {}});
  return "";
}

std::string LowerTile(Lowering& to, const Node& node) {
  const Array input = to.Of(node.inputs[0]), output = to.Of(node.outputs[0]);
  const std::vector<int64_t> in = DenseStrides(input.shape), out = DenseStrides(output.shape);
  MapSpec spec{.sizes = {}, .inputs = {{}}, .output = {}, .program = {}};
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t size = input.shape[int(i)];
    spec.sizes.insert(spec.sizes.end(), {output.shape[int(i)] / size, size});
    spec.inputs[0].strides.insert(spec.inputs[0].strides.end(), {0, in[i]});
    spec.output.strides.insert(spec.output.strides.end(), {size * out[i], out[i]});
  }
  to.Move(input, output, std::move(spec));
  return "";
}

namespace {

// The strides of an image seen as n, h, block row, w, block column, c: the pixels of the large image, and the
// channels of the small one's blocks.
struct Blocks {
  std::vector<int64_t> sizes, large, small;
};

Blocks BlocksOf(const Shape& small, int64_t side, bool nhwc, bool rows_first) {
  const int64_t n = small[0], h = small[nhwc ? 1 : 2], w = small[nhwc ? 2 : 3],
                channels = small[nhwc ? 3 : 1] / (side * side);
  const int64_t deep = channels * side * side;
  Blocks b{{n, h, side, w, side, channels}, {}, {}};
  // elements from one channel, column, row and image to the next
  const auto steps = [&](int64_t of_channels, int64_t width, int64_t height) -> std::array<int64_t, 4> {
    if (nhwc) return {1, of_channels, width * of_channels, height * width * of_channels};
    return {height * width, 1, width, height * width * of_channels};
  };
  const auto large = steps(channels, w * side, h * side), small_steps = steps(deep, w, h);
  b.large = {large[3], large[2] * side, large[2], large[1] * side, large[1], large[0]};
  const int64_t c = small_steps[0];  // DCR: block row, block column, channel; CRD: channel, row, column
  b.small = {small_steps[3],
             small_steps[2],
             c * side * (rows_first ? channels : 1),
             small_steps[1],
             c * (rows_first ? channels : 1),
             c * (rows_first ? 1 : side * side)};
  return b;
}

}  // namespace

std::string LowerSpaceAndDepth(Lowering& to, const Node& node) {
  const Array input = to.Of(node.inputs[0]), output = to.Of(node.outputs[0]);
  const bool to_space = node.op == "DepthToSpace";
  const Blocks b = BlocksOf(to_space ? input.shape : output.shape, node.attributes.Int("blocksize", 1),
                            IsNhwc(node.attributes), node.attributes.String("mode", "DCR") == "DCR");
  to.Move(input, output,
          {.sizes = b.sizes,
           .inputs = {{.strides = to_space ? b.small : b.large}},
           .output = {.strides = to_space ? b.large : b.small},
           .program = {}});
  return "";
}

}  // namespace mete::opencl
