// Conversions of operators that move, join, repeat or surround elements.
#include <algorithm>
#include <limits>

#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

// Returns whether the input has as many elements as a new shape. One with a dimension that is open has as
// many for any batch; it is taken as it is where it was computed from other tensors, whose batch it follows.
bool Fits(const Op& op, const Ints& shape) {
  if (std::find(shape.begin(), shape.end(), -1) != shape.end())
    return op.has(1) && !op.info(1).constant.has_value();
  int64_t left = op.shape().Elements();
  for (const int64_t d : shape) {
    if (d <= 0 || left % d != 0) return false;
    left /= d;
  }
  return left == 1;
}

// Returns the shape that a RESHAPE asks for: in its second input, or in files without that in its options.
// A first dimension that is the batch of the file follows the caller's batch.
Ints ReshapedTo(const Op& op) {
  Ints shape;
  const auto* o = op.Find<tflite::ReshapeOptions>();
  if (op.has(1)) shape = op.IntsOf(1, "new shape");
  else if (o && o->new_shape() && o->new_shape()->size() <= unsigned(Shape::kMaxRank))
    shape.assign(o->new_shape()->begin(), o->new_shape()->end());
  else op.Bad("{} has no new shape", op.kind());
  if (op.is_open() || Fits(op, shape)) return shape;
  const Shape &in_file = op.info(0).shape, in = op.shape();
  if (in.rank() > 0 && !shape.empty() && in[0] != in_file[0] && shape[0] == in_file[0]) shape[0] = in[0];
  return shape;
}

// Makes output 0 of input 0 in another shape, which holds as many elements.
void OutReshaped(Op& op, const Shape& shape) {
  const auto z = op.ComplexOf();
  if (!z) return op.Out(0, Order::kFile, op.in(), shape);
  op.OutComplex({op.Reshape(z->real, shape), op.Reshape(z->imaginary, shape)});
}

void Reshape(Op& op) {
  Attributes a;
  if (op.has(1) && op.is_computed(1)) {
    a.Set("allowzero", int64_t{1});
    return op.Out(0, Order::kFile, op.Emit("Reshape", {op.in(), op.Indices(1)}, std::move(a)));
  }
  const Ints shape = ReshapedTo(op);
  if (std::any_of(shape.begin(), shape.end(), [](int64_t d) { return d < -1; }))
    op.Bad("the new shape has a negative dimension; got {}", fmt::join(shape, "x"));
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) a.Set("allowzero", int64_t{1});
  const auto z = op.ComplexOf();
  if (!z) return op.Out(0, Order::kFile, op.Emit("Reshape", {op.in(), op.Ints(shape)}, std::move(a)));
  op.OutComplex({op.Emit("Reshape", {z->real, op.Ints(shape)}, a),
                 op.Emit("Reshape", {z->imaginary, op.Ints(shape)}, a)});
}

void Squeeze(Op& op) {
  const auto* o = op.Find<tflite::SqueezeOptions>();
  const Shape in = op.shape();
  const bool all = !o || !o->squeeze_dims() || o->squeeze_dims()->size() == 0;
  std::vector<bool> goes;
  for (int64_t d : in) goes.push_back(all && d == 1);
  if (!all)
    for (int32_t given : *o->squeeze_dims()) {
      const int axis = op.Axis(given, in.rank());
      if (in[axis] != 1) op.Bad("dimension {} must be 1; got {}", axis, ToString(in));
      goes[size_t(axis)] = true;
    }
  Shape out;
  for (int i = 0; i < in.rank(); ++i)
    if (!goes[size_t(i)]) out.push_back(in[i]);
  OutReshaped(op, out);
}

void ExpandDims(Op& op) {
  const Shape in = op.shape();
  const int axis = op.Axis(op.IntOf(1, "axis"), in.rank() + 1);
  Shape out(in.dims().first(size_t(axis)));
  out.push_back(1);
  for (int i = axis; i < in.rank(); ++i) out.push_back(in[i]);
  OutReshaped(op, out);
}

void Transpose(Op& op) {
  Attributes a;
  a.Set("perm", op.IntsOf(1, "permutation"));
  op.Out(0, Order::kFile, op.Emit("Transpose", {op.in()}, std::move(a)));
}

void Concatenation(Op& op) {
  const auto& o = op.Need<tflite::ConcatenationOptions>();
  const Order order = op.AnyOrder();
  std::vector<ValueId> inputs;
  for (int i = 0; i < op.inputs(); ++i) inputs.push_back(op.in(i, order));
  const int64_t axis = op.is_open() ? o.axis() : AxisIn(order, op.Axis(o.axis(), op.shape().rank()));
  op.Out(0, order, op.Activated(op.Emit("Concat", std::move(inputs), AxisOf(axis)), o.activation()));
}

void Pack(Op& op) {
  const auto& o = op.Need<tflite::PackOptions>();
  const Shape in = op.shape();
  const int axis = op.Axis(o.axis(), in.rank() + 1);
  Shape one(in.dims().first(size_t(axis)));
  one.push_back(1);
  for (int i = axis; i < in.rank(); ++i) one.push_back(in[i]);
  std::vector<ValueId> inputs;
  for (int i = 0; i < op.inputs(); ++i) {
    if (op.shape(i) != in)
      op.Bad("inputs differ in shape; got {} and {}", ToString(in), ToString(op.shape(i)));
    inputs.push_back(op.Reshape(op.in(i), one));
  }
  op.Out(0, Order::kFile, op.Emit("Concat", std::move(inputs), AxisOf(axis)));
}

void Unpack(Op& op) {
  const auto& o = op.Need<tflite::UnpackOptions>();
  const Shape in = op.shape();
  const int axis = op.Axis(o.axis(), in.rank());
  if (in[axis] != op.outputs()) op.Bad("{} has {} outputs for {}", op.kind(), op.outputs(), ToString(in));
  Shape out(in.dims().first(size_t(axis)));
  for (int i = axis + 1; i < in.rank(); ++i) out.push_back(in[i]);
  const auto parts =
      op.EmitAll("Split", {op.in(), op.Ints(Ints(size_t(op.outputs()), 1))}, AxisOf(axis), op.outputs());
  for (int i = 0; i < op.outputs(); ++i) op.Out(i, Order::kFile, parts[size_t(i)], out);
}

// Divides input `x` along an axis into parts of these sizes.
void Divide(const Op& op, int x, int64_t axis, const Ints& sizes) {
  const Order order = op.shape(x).rank() == 4 ? op.OrderOf(x) : Order::kFile;
  const auto parts =
      op.EmitAll("Split", {op.in(x, order), op.Ints(sizes)}, AxisOf(AxisIn(order, axis)), op.outputs());
  for (int i = 0; i < op.outputs(); ++i) op.Out(i, order, parts[size_t(i)]);
}

void Split(Op& op) {
  const int axis = op.Axis(op.IntOf(0, "axis"), op.shape(1).rank());
  const int64_t whole = op.shape(1)[axis], count = op.outputs();
  if (whole % count != 0) op.Bad("{} does not divide into {} equal parts", whole, count);
  Divide(op, 1, axis, Ints(size_t(count), whole / count));
}

void SplitV(Op& op) {
  const int axis = op.Axis(op.IntOf(2, "axis"), op.shape().rank());
  Ints sizes = op.IntsOf(1, "sizes");
  int64_t rest = op.shape()[axis];
  for (int64_t size : sizes) rest -= std::max<int64_t>(size, 0);
  for (int64_t& size : sizes)
    if (size == -1) size = std::exchange(rest, 0);
  if (int64_t(sizes.size()) != op.outputs())
    op.Bad("{} has {} sizes and {} outputs", op.kind(), sizes.size(), op.outputs());
  Divide(op, 0, axis, sizes);
}

// Returns all begins and then all ends of a list of pairs, in `order`.
Ints PadsIn(const Op& op, Order order) {
  const Ints pairs = op.IntsOf(1, "padding");
  const size_t rank = size_t(op.shape().rank());
  if (pairs.size() != 2 * rank) op.Bad("the padding has {} numbers; expected {}", pairs.size(), 2 * rank);
  Ints pads(2 * rank);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i] < 0) op.Bad("the padding must not be negative; got {}", pairs[i]);
    pads[(i % 2) * rank + size_t(AxisIn(order, int64_t(i / 2)))] = pairs[i];
  }
  return pads;
}

// A convolution takes the padding of an image before it, so that images are padded in its order.
Order OrderOfPads(const Op& op) { return op.shape().rank() == 4 ? Order::kPlanar : Order::kFile; }

// Bytes are padded with the byte of 0, if they have the same scale before and behind.
void Pad(Op& op) {
  const Order order = OrderOfPads(op);
  const ValueId pads = op.Ints(PadsIn(op, order));
  const auto& scales = op.info(0).scales;
  if (scales && scales->one() && scales == op.out_info().scales && !op.has(2))
    return op.OutRaw(0, order, op.Emit("Pad", {op.raw(0, order), pads, op.ZeroOf(0)}));
  std::vector<ValueId> inputs = {op.in(0, order), pads};
  if (op.has(2)) inputs.push_back(op.Reshape(op.in(2), {}));
  op.Out(0, order, op.Emit("Pad", std::move(inputs)));
}

// Surrounds the elements along one axis by a mirror that includes the border.
ValueId Mirrored(const Op& op, ValueId x, int64_t axis, int64_t before, int64_t after) {
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();  // behind the first element, backwards
  const int64_t size = op.ShapeOf(x)[int(axis)];
  if (before > size || after > size)
    op.Bad("a mirror is larger than what it shows; got {} and {} of {}", before, after, size);
  const auto backwards = [&](int64_t from, int64_t to) {
    return op.Emit("Slice", {x, op.Ints({from}), op.Ints({to}), op.Ints({axis}), op.Ints({-1})});
  };
  std::vector<ValueId> parts;
  if (before > 0) parts.push_back(backwards(before - 1, kFirst));
  parts.push_back(x);
  if (after > 0) parts.push_back(backwards(size - 1, after == size ? kFirst : size - after - 1));
  return op.Emit("Concat", std::move(parts), AxisOf(axis));
}

void MirrorPad(Op& op) {
  const auto& o = op.Need<tflite::MirrorPadOptions>();
  const Order order = OrderOfPads(op);
  const Ints pads = PadsIn(op, order);
  const bool symmetric = o.mode() == tflite::MirrorPadMode::SYMMETRIC;
  // One pixel of a mirror that includes the border is the border itself.
  if (symmetric && std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p > 1; })) {
    ValueId x = op.in(0, order);
    for (size_t i = 0, rank = pads.size() / 2; i < rank; ++i)
      if (pads[i] + pads[rank + i] > 0) x = Mirrored(op, x, int64_t(i), pads[i], pads[rank + i]);
    return op.Out(0, order, x);
  }
  Attributes a;
  a.Set("mode", std::string(symmetric ? "edge" : "reflect"));
  op.Out(0, order, op.Emit("Pad", {op.in(0, order), op.Ints(pads)}, std::move(a)));
}

void Tile(Op& op) { op.Out(0, Order::kFile, op.Emit("Tile", {op.in(), op.Sizes(1)})); }

using Code = tflite::BuiltinOperator;

constexpr Row kMovesRows[] = {
    {Code::CONCATENATION, 1, -1, 1, Concatenation},
    {Code::EXPAND_DIMS, 2, 2, 1, ExpandDims},
    {Code::MIRROR_PAD, 2, 2, 1, MirrorPad},
    {Code::PACK, 1, -1, 1, Pack},
    {Code::PAD, 2, 2, 1, Pad},
    {Code::PADV2, 3, 3, 1, Pad},
    {Code::RESHAPE, 1, 2, 1, Reshape},
    {Code::SPLIT, 2, 2, -1, Split},
    {Code::SPLIT_V, 3, 3, -1, SplitV},
    {Code::SQUEEZE, 1, 1, 1, Squeeze},
    {Code::TILE, 2, 2, 1, Tile},
    {Code::TRANSPOSE, 2, 2, 1, Transpose},
    {Code::UNPACK, 1, 1, -1, Unpack},
};

}  // namespace

std::span<const Row> MoveRows() { return kMovesRows; }

}  // namespace mete::tflite_import
