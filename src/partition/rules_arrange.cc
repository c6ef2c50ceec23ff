// Operators that move elements: each output row maps to the input rows that it was moved from.
#include <algorithm>

#include "partition/rules.h"

namespace mete {
namespace {

// Maps rows of the output to rows of an input with the same bytes in another shape. The axes correspond if
// their preceding dimensions have the same product and the extent of one divides that of the other. For
// example, 6x2x5 flattened to 60: rows 20 to 40 of the output are channels 2 to 4 of the input.
std::optional<Part> ThroughReshape(const Shape& in, const Shape& out, int axis, IndexRange rows) {
  const int64_t before = out.Elements(0, axis);
  for (int i = 0; i < in.rank(); ++i) {
    if (in[i] == 1 || in.Elements(0, i) != before) continue;
    const int64_t a = out[axis], b = in[i];
    if (a == b) return Part::Of(i, rows);
    if (b % a == 0) return Part::Of(i, {rows.begin * (b / a), rows.end * (b / a)});
    if (a % b != 0 || rows.begin % (a / b) != 0 || rows.end % (a / b) != 0) return std::nullopt;
    return Part::Of(i, {rows.begin / (a / b), rows.end / (a / b)});
  }
  return std::nullopt;
}

Ints Dims(const Shape& shape) { return {shape.begin(), shape.end()}; }

Ints DimsOfPart(const DivideContext& c) { return Dims(ShapeOf(Part::Of(c.axis, c.rows), c.output())); }

// Returns the axes of an optional list in input `i`, or the first `count` axes if the input is omitted.
std::optional<Ints> AxesOf(const DivideContext& c, int i, size_t count) {
  Ints axes;
  if (!c.has(i)) {
    for (size_t k = 0; k < count; ++k) axes.push_back(int64_t(k));
    return axes;
  }
  const auto known = c.ints(i);
  if (!known) return std::nullopt;
  for (int64_t axis : *known) axes.push_back(Positive(axis, c.shape(0).rank()));
  return axes;
}

// SpaceToDepth turns blocks of pixels into channels, and DepthToSpace turns channels into blocks: one row of
// the smaller image is `blocksize` rows of the larger one, and one image is one image.
bool IsDividedByBlocks(const DivideContext& c) { return !IsNhwc(c.node.attributes) && c.axis != 1; }
int64_t BlockSize(const DivideContext& c) { return c.axis == 0 ? 1 : c.node.attributes.Int("blocksize", 1); }

// Returns true if an integer scale repeats each input row, independently of its neighbours. That holds for
// the modes that round from the centres of pixels, or down from their edges.
bool RepeatsRows(const Attributes& attributes) {
  if (attributes.String("mode", "nearest") != "nearest") return false;
  const auto coordinates = attributes.String("coordinate_transformation_mode", "half_pixel");
  const auto nearest = attributes.String("nearest_mode", "round_prefer_floor");
  if (coordinates == "asymmetric") return nearest == "floor";
  const bool middle = coordinates == "half_pixel" || coordinates == "half_pixel_symmetric" ||
                      coordinates == "pytorch_half_pixel";
  return middle && nearest.starts_with("round");
}

Ints ResizedAxes(const DivideContext& c) {
  Ints axes = c.node.attributes.IntList("axes");
  const int rank = c.shape(0).rank();
  if (axes.empty())
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  for (int64_t& axis : axes) axis = Positive(axis, rank);
  return axes;
}

// Returns the scale of the divided axis, from the scales or the sizes, or 0 if it is no integer.
int64_t WholeScale(const DivideContext& c, const Ints& axes) {
  const int64_t in = c.shape(0)[c.axis], out = c.output()[c.axis];
  if (in == 0 || out % in != 0) return 0;
  const auto at = std::find(axes.begin(), axes.end(), c.axis);
  if (at == axes.end()) return 1;
  const bool scales = c.has(2) && c.shape(2).Elements() > 0;
  if (scales && !IsConstant(c.graph, c.node.input(2))) return 0;
  if (scales && c.graph.value(c.node.input(2)).constant.as<float>()[at - axes.begin()] != float(out / in))
    return 0;
  return out / in;
}

}  // namespace

Divided DivideSameBytes(const DivideContext& c) {
  const auto part =
      c.output().Elements() == 0 ? std::nullopt : ThroughReshape(c.shape(0), c.output(), c.axis, c.rows);
  if (!part) return std::nullopt;
  Division d = c.Whole();
  d.inputs[0] = *part;
  return d;
}

Divided DivideReshape(const DivideContext& c) {
  auto d = DivideSameBytes(c);
  if (d) d->ints[1] = DimsOfPart(c);
  return d;
}

// A Squeeze is divided only if it lists its axes: without them it would also remove the axis of a part of one
// row.
Divided DivideSqueeze(const DivideContext& c) {
  if (!c.has(1)) return std::nullopt;
  return DivideSameBytes(c);
}

Divided DivideExpand(const DivideContext& c) {
  Division d = c.Whole();
  if (!c.Broadcast(d, 0)) return std::nullopt;
  d.ints[1] = DimsOfPart(c);
  return d;
}

Divided DivideTranspose(const DivideContext& c) {
  const Ints& perm = c.node.attributes.IntList("perm");
  Division d = c.Whole();
  c.SameRows(d, 0, perm.empty() ? c.output().rank() - 1 - c.axis : int(perm[size_t(c.axis)]));
  return d;
}

Divided DivideGather(const DivideContext& c) {
  const int axis = c.AxisAttribute(c.shape(0).rank()), indices = c.shape(1).rank();
  Division d = c.Whole();
  if (c.axis < axis) c.SameRows(d, 0, c.axis);
  else if (c.axis < axis + indices) c.SameRows(d, 1, c.axis - axis);
  else c.SameRows(d, 0, c.axis - indices + 1);
  return d;
}

// Row o of the output is row start + o * step of the input. Only positive steps are divided.
Divided DivideSlice(const DivideContext& c) {
  const auto starts = c.ints(1), ends = c.ints(2);
  if (!starts || !ends) return std::nullopt;
  const auto axes = AxesOf(c, 3, starts->size());
  const auto steps = c.has(4) ? c.ints(4) : Ints(starts->size(), 1);
  if (!axes || !steps) return std::nullopt;
  Division d = c.Whole();
  const auto at = std::find(axes->begin(), axes->end(), c.axis);
  if (at == axes->end()) {
    c.SameRows(d, 0, c.axis);
    return d;
  }
  const size_t k = size_t(at - axes->begin());
  const int64_t step = (*steps)[k], dim = c.shape(0)[c.axis];
  if (step < 1) return std::nullopt;
  const int64_t start = std::clamp<int64_t>((*starts)[k] < 0 ? (*starts)[k] + dim : (*starts)[k], 0, dim);
  const IndexRange reads{start + c.rows.begin * step, start + (c.rows.end - 1) * step + 1};
  d.inputs[0] = Part::Of(c.axis, reads);
  d.ints[1] = *starts;
  d.ints[2] = *ends;
  d.ints[1][k] = 0;
  d.ints[2][k] = reads.size();
  return d;
}

// A Pad is divided along a padded axis only if it pads with a constant. The part's edges keep the padding
// that lies within the part.
Divided DividePad(const DivideContext& c) {
  const auto pads = c.ints(1);
  const auto axes = AxesOf(c, 3, size_t(c.shape(0).rank()));
  if (!pads || !axes) return std::nullopt;
  Division d = c.Whole();
  const auto at = std::find(axes->begin(), axes->end(), c.axis);
  if (at == axes->end()) {
    c.SameRows(d, 0, c.axis);
    return d;
  }
  const size_t k = size_t(at - axes->begin());
  const int64_t pad = (*pads)[k], begin = c.rows.begin - pad, end = c.rows.end - pad,
                dim = c.shape(0)[c.axis];
  if (c.node.attributes.String("mode", "constant") != "constant" &&
      (pad != 0 || (*pads)[axes->size() + k] != 0))
    return std::nullopt;
  const IndexRange reads{std::max<int64_t>(0, begin), std::min(dim, end)};
  if (reads.begin >= reads.end) return std::nullopt;
  d.inputs[0] = Part::Of(c.axis, reads);
  d.ints[1] = *pads;
  d.ints[1][k] = std::max<int64_t>(0, -begin);
  d.ints[1][axes->size() + k] = std::max<int64_t>(0, end - dim);
  return d;
}

Divided DivideBlocksToChannels(const DivideContext& c) {
  if (!IsDividedByBlocks(c)) return std::nullopt;
  const int64_t size = BlockSize(c);
  Division d = c.Whole();
  d.inputs[0] = Part::Of(c.axis, {c.rows.begin * size, c.rows.end * size});
  return d;
}

Divided DivideChannelsToBlocks(const DivideContext& c) {
  if (!IsDividedByBlocks(c)) return std::nullopt;
  Division d = c.Whole();
  d.inputs[0] = Part::Of(c.axis, c.Blocks(d, BlockSize(c)));
  return d;
}

Divided DivideResize(const DivideContext& c) {
  const Attributes& a = c.node.attributes;
  if (a.String("coordinate_transformation_mode", "") == "tf_crop_and_resize") return std::nullopt;
  if (a.String("keep_aspect_ratio_policy", "stretch") != "stretch" || IsNhwc(a)) return std::nullopt;
  const Ints axes = ResizedAxes(c);
  const int64_t scale = WholeScale(c, axes);
  if (scale == 0 || (scale > 1 && !RepeatsRows(a))) return std::nullopt;
  Division d = c.Whole();
  d.inputs[0] = Part::Of(c.axis, c.Blocks(d, scale));
  const auto at = std::find(axes.begin(), axes.end(), c.axis);
  if (!c.has(3) || c.shape(3).Elements() == 0 || at == axes.end()) return d;
  auto sizes = c.ints(3);
  if (!sizes) return std::nullopt;
  (*sizes)[size_t(at - axes.begin())] = d.rows->size();
  d.ints[3] = *std::move(sizes);
  return d;
}

}  // namespace mete
