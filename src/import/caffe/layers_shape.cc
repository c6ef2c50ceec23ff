// Conversions of layers that move, concatenate, slice and reduce.
#include <algorithm>
#include <set>

#include "import/caffe/builder.h"

namespace mete::caffe_import {
namespace {

using mete::Ints;

Attributes AxisOf(int axis) {
  Attributes a;
  a.Set("axis", int64_t(axis));
  return a;
}

void Concat(Layer& l) {
  const auto& p = l.p.concat_param();
  const int axis = l.Axis(p.has_concat_dim() ? int64_t(p.concat_dim()) : p.axis());
  std::vector<ValueId> inputs;
  for (int i = 0; i < l.bottoms(); ++i) inputs.push_back(l.in(i));
  l.SetTop(0, l.Emit("Concat", std::move(inputs), AxisOf(axis)));
}

Ints SliceSizes(Layer& l, int axis) {
  const auto& points = l.p.slice_param().slice_point();
  const int64_t whole = l.shape()[axis];
  if (points.empty()) {
    if (whole % l.tops()) l.Bad("{} does not divide into {} equal parts; try slice_point", whole, l.tops());
    return Ints(size_t(l.tops()), whole / l.tops());
  }
  if (points.size() != l.tops() - 1)
    l.Bad("slice_point has the wrong number of values; got {}, expected {}", points.size(), l.tops() - 1);
  Ints sizes;
  int64_t at = 0;
  for (int64_t point : points) {
    sizes.push_back(point - at);
    at = point;
  }
  sizes.push_back(whole - at);
  if (std::any_of(sizes.begin(), sizes.end(), [](int64_t s) { return s < 1; }))
    l.Bad("slice_point must rise and stay below {}; got parts of {}", whole, fmt::join(sizes, ", "));
  return sizes;
}

void Slice(Layer& l) {
  const auto& p = l.p.slice_param();
  const int axis = l.Axis(p.has_slice_dim() ? int64_t(p.slice_dim()) : p.axis());
  if (l.tops() == 1) return l.SetTop(0, l.Emit("Identity", {l.in()}));
  const auto parts =
      l.EmitAll("Split", {l.in(), l.Ints("sizes", SliceSizes(l, axis))}, AxisOf(axis), l.tops());
  for (int i = 0; i < l.tops(); ++i) l.SetTop(i, parts[size_t(i)]);
}

void Split(Layer& l) {
  for (int i = 0; i < l.tops(); ++i) l.SetTop(i, l.Emit("Identity", {l.in()}));
}

void Flatten(Layer& l) {
  const auto& p = l.p.flatten_param();
  const Shape in = l.shape();
  const int first = l.Axis(p.axis()), last = l.Axis(p.end_axis());
  if (last < first) l.Bad("end_axis comes before axis; got {} and {}", last, first);
  if (first == 1 && last == in.rank() - 1) return l.SetTop(0, l.Emit("Flatten", {l.in()}));
  Shape out(in.dims().first(size_t(first)));
  out.push_back(in.Elements(first, last + 1));
  for (int i = last + 1; i < in.rank(); ++i) out.push_back(in[i]);
  l.SetTop(0, l.EmitReshape(l.in(), out));
}

// Replaces the dimensions [axis, axis + num_axes). A new dimension of 0 copies the input's dimension at the
// same place, and -1 stands for the elements that remain.
void Reshape(Layer& l) {
  const auto& p = l.p.reshape_param();
  const Shape in = l.shape();
  // The axis may also be one past the last dimension.
  const int64_t from = p.axis() < 0 ? int64_t(p.axis()) + in.rank() + 1 : p.axis();
  const int64_t to = p.num_axes() == -1 ? in.rank() : from + p.num_axes();
  if (from < 0 || from > in.rank() || p.num_axes() < -1 || to > in.rank())
    l.Bad("axis {} and num_axes {} do not fit {}", p.axis(), p.num_axes(), ToString(in));
  // A 0 in ONNX's form also copies the dimension at its place, for a session with another batch too.
  Ints out(size_t(from), 0);
  for (int i = 0; i < p.shape().dim_size(); ++i) {
    const int64_t d = p.shape().dim(i);
    if (d < -1 || (d == 0 && from + i >= in.rank())) l.Bad("bad dimension {} in the new shape", d);
    out.push_back(d);
  }
  for (int i = int(to); i < in.rank(); ++i) out.push_back(in[i]);
  l.SetTop(0, l.Emit("Reshape", {l.in(), l.Ints("shape", out)}));
}

void Permute(Layer& l) {
  const int rank = l.shape().rank();
  Ints order;
  std::set<int64_t> seen;
  for (int64_t axis : l.p.permute_param().order()) {
    if (axis >= rank || !seen.insert(axis).second)
      l.Bad("order must name different axes below {}; got {}", rank, axis);
    order.push_back(axis);
  }
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!seen.count(axis)) order.push_back(axis);
  Attributes a;
  a.Set("perm", order);
  l.SetTop(0, l.Emit("Transpose", {l.in()}, a));
}

const char* ReduceOp(caffe::ReductionParameter::ReductionOp op) {
  switch (op) {
    case caffe::ReductionParameter::SUM: return "ReduceSum";
    case caffe::ReductionParameter::ASUM: return "ReduceL1";
    case caffe::ReductionParameter::SUMSQ: return "ReduceSumSquare";
    case caffe::ReductionParameter::MEAN: return "ReduceMean";
  }
  return "ReduceSum";
}

void Reduction(Layer& l) {
  const auto& p = l.p.reduction_param();
  Ints axes;
  for (int axis = l.Axis(p.axis()); axis < l.shape().rank(); ++axis) axes.push_back(axis);
  Attributes a;
  a.Set("keepdims", int64_t(0));
  ValueId y = l.Emit(ReduceOp(p.operation()), {l.in(), l.Ints("axes", axes)}, a);
  if (p.coeff() != 1) y = l.Emit("Mul", {y, l.Scalar("coeff", p.coeff())});
  l.SetTop(0, y);
}

// Caffe returns the indices as floats. Without an axis, ArgMax searches all dimensions but the first, and the
// result is N x 1 x k, or N x 2 x k with the values behind the indices.
void ArgMax(Layer& l) {
  const auto& p = l.p.argmax_param();
  const Shape in = l.shape();
  const bool flat = !p.has_axis();
  if (in.rank() < 1) l.Bad("ArgMax needs a dimension; got {}", ToString(in));
  const int axis = flat ? 1 : l.Axis(p.axis());
  const int64_t k = p.top_k(), among = flat ? in.Elements(1, in.rank()) : in[axis];
  if (k < 1 || k > among) l.Bad("top_k is out of range; got {}, expected 1 to {}", k, among);
  const ValueId x = flat ? l.EmitReshape(l.in(), Shape{in[0], among}) : l.in();
  const auto top = l.EmitAll("TopK", {x, l.Ints("k", Ints{k})}, AxisOf(axis), 2);
  Attributes to;
  to.Set("to", std::string("f32"));
  ValueId y = p.out_max_val() && !flat ? top[0] : l.Emit("Cast", {top[1]}, to);
  if (flat) y = l.EmitReshape(y, Shape{in[0], 1, k});
  if (flat && p.out_max_val())
    y = l.Emit("Concat", {y, l.EmitReshape(top[0], Shape{in[0], 1, k})}, AxisOf(1));
  l.SetTop(0, y);
}

void Crop(Layer& l) {
  const auto& p = l.p.crop_param();
  const int axis = l.Axis(p.axis()), rank = l.shape().rank();
  if (l.shape(1).rank() != rank)
    l.Bad("the bottoms differ in the number of dimensions; got {} and {}", ToString(l.shape()),
          ToString(l.shape(1)));
  if (p.offset_size() > 1 && p.offset_size() != rank - axis)
    l.Bad("offset has the wrong number of values; got {}, expected 1 or {}", p.offset_size(), rank - axis);
  Ints starts, ends, axes;
  for (int i = axis; i < rank; ++i) {
    const int64_t offset = p.offset_size() == 0 ? 0 : p.offset(p.offset_size() == 1 ? 0 : i - axis),
                  size = l.shape(1)[i];
    if (offset > l.shape()[i] - size)
      l.Bad("the part is outside; got {} from {} on in {}", size, offset, l.shape()[i]);
    starts.push_back(offset);
    ends.push_back(offset + size);
    axes.push_back(i);
  }
  l.SetTop(0,
           l.Emit("Slice", {l.in(), l.Ints("starts", starts), l.Ints("ends", ends), l.Ints("axes", axes)}));
}

constexpr LayerType kShapeLayers[] = {
    {"ArgMax", 1, 1, 1, ArgMax},   {"Concat", 1, -1, 1, Concat},  {"Crop", 2, 2, 1, Crop},
    {"Flatten", 1, 1, 1, Flatten}, {"Permute", 1, 1, 1, Permute}, {"Reduction", 1, 1, 1, Reduction},
    {"Reshape", 1, 1, 1, Reshape}, {"Slice", 1, 1, -1, Slice},    {"Split", 1, 1, -1, Split},
};

}  // namespace

std::span<const LayerType> ShapeLayers() { return kShapeLayers; }

}  // namespace mete::caffe_import
