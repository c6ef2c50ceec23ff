// Conversions of pools, resizes, a normalization of pixels, and what moves pixels between space and depth.
#include <algorithm>

#include "import/tflite/window.h"

namespace mete::tflite_import {
namespace {

void NeedImage(const Op& op) {
  if (op.shape().rank() != 4) op.Bad("{} needs 4 dimensions; got {}", op.kind(), ToString(op.shape()));
}

Attributes PoolAttributes(const Op& op, const tflite::Pool2DOptions& o) {
  const Window window{{o.filter_h(), o.filter_w()}, {o.stride_h(), o.stride_w()}};
  return AttributesOf(op, window, o.padding(), op.shape());
}

void Pool(Op& op) {
  const auto& o = op.Need<tflite::Pool2DOptions>();
  const Attributes attributes = PoolAttributes(op, o);
  const ValueId y = op.Emit(op.onnx(), {op.in(0, Order::kPlanar)}, attributes);
  op.Out(0, Order::kPlanar, op.Activated(y, o.activation()));
}

// The root of the mean of squares, of which the padding is no part. That of ONNX's LpPool is of their sum.
void L2Pool(Op& op) {
  const auto& o = op.Need<tflite::Pool2DOptions>();
  const Attributes attributes = PoolAttributes(op, o);
  const ValueId x = op.in(0, Order::kPlanar);
  const ValueId mean = op.Emit("AveragePool", {op.Emit("Mul", {x, x})}, attributes);
  op.Out(0, Order::kPlanar, op.Activated(op.Emit("Sqrt", {mean}), o.activation()));
}

// ONNX divides alpha by the number of channels that are added up, the format does not.
void LocalResponseNormalization(Op& op) {
  constexpr int kMost = 1 << 20;  // the number of channels that are added up stays exact in f32
  NeedImage(op);
  const auto& o = op.Need<tflite::LocalResponseNormalizationOptions>();
  if (o.radius() < 0 || o.radius() > kMost)
    op.Bad("the radius is out of range; got {}, expected 0 to {}", o.radius(), kMost);
  const int64_t size = 2 * int64_t{o.radius()} + 1;
  Attributes a;
  a.Set("size", size);
  a.Set("bias", o.bias());
  a.Set("alpha", o.alpha() * float(size));
  a.Set("beta", o.beta());
  op.Out(0, Order::kPlanar, op.Emit("LRN", {op.in(0, Order::kPlanar)}, std::move(a)));
}

void Resize(const Op& op, Attributes attributes, bool align_corners, bool half_pixel) {
  NeedImage(op);
  const Ints sizes = op.IntsOf(1, "size");
  if (sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1)
    op.Bad("the size needs a height and a width from 1 on");
  attributes.Set("coordinate_transformation_mode", std::string(align_corners ? "align_corners"
                                                               : half_pixel  ? "half_pixel"
                                                                             : "asymmetric"));
  const Shape in = op.shape();
  op.Out(0, Order::kPlanar,
         op.Emit("Resize",
                 {op.in(0, Order::kPlanar), kNoValue, kNoValue, op.Ints({in[0], in[3], sizes[0], sizes[1]})},
                 std::move(attributes)));
}

void ResizeBilinear(Op& op) {
  const auto* o = op.Find<tflite::ResizeBilinearOptions>();
  Attributes a;
  a.Set("mode", std::string("linear"));
  Resize(op, std::move(a), o && o->align_corners(), o && o->half_pixel_centers());
}

void ResizeNearest(Op& op) {
  const auto* o = op.Find<tflite::ResizeNearestNeighborOptions>();
  const bool align = o && o->align_corners(), half = o && o->half_pixel_centers();
  Attributes a;
  a.Set("mode", std::string("nearest"));
  // With half pixels the format takes floor((x + 0.5) * scale), which is the nearest pixel of x's middle.
  a.Set("nearest_mode", std::string(align || half ? "round_prefer_ceil" : "floor"));
  Resize(op, std::move(a), align, half);
}

void MoveBlocks(const Op& op, int64_t block) {
  NeedImage(op);
  if (block < 1) op.Bad("block_size must be from 1 on; got {}", block);
  Attributes a;
  a.Set("blocksize", block);
  op.Out(0, Order::kPlanar, op.Emit(op.onnx(), {op.in(0, Order::kPlanar)}, std::move(a)));
}

void SpaceToDepth(Op& op) { MoveBlocks(op, op.Need<tflite::SpaceToDepthOptions>().block_size()); }
void DepthToSpace(Op& op) { MoveBlocks(op, op.Need<tflite::DepthToSpaceOptions>().block_size()); }

// The dimensions of an image that blocks divide, in an order, and what is added to them or cut off.
struct Blocks {
  Order order = Order::kFile;
  Ints sizes;         // by dimension; 1 for those that are not divided
  Ints begins, ends;  // by dimension

  bool any() const {
    const auto is_zero = [](int64_t n) { return n == 0; };
    return !std::all_of(begins.begin(), begins.end(), is_zero) ||
           !std::all_of(ends.begin(), ends.end(), is_zero);
  }
  // By which the batch is multiplied; the sizes are bounded, so that their product does not overflow.
  int64_t of_batch() const {
    int64_t product = 1;
    for (int64_t size : sizes) product *= size;
    return product;
  }
};

// Reads the block's sizes and the pairs of borders, which are inputs 1 and 2.
Blocks BlocksOf(const Op& op, const char* borders) {
  constexpr int64_t kMost = 1 << 15;  // far above any dilation
  const Shape in = op.shape();
  const Ints sizes = op.IntsOf(1, "block shape"), pairs = op.IntsOf(2, borders);
  const size_t divided = sizes.size();
  if (divided < 1 || divided > 3 || in.rank() < int(divided) + 1 || pairs.size() != 2 * divided)
    op.Bad("{} needs 1 to 3 sizes of blocks, and two numbers of {} for each; got {} and {} for {}", op.kind(),
           borders, divided, pairs.size(), ToString(in));
  if (const int most = Shape::kMaxRank - int(divided); in.rank() > most)
    op.Bad("too many dimensions for {} sizes of blocks; got {}, expected at most {}", divided, ToString(in),
           most);
  Blocks b{in.rank() == 4 ? Order::kPlanar : Order::kFile, Ints(size_t(in.rank()), 1),
           Ints(size_t(in.rank())), Ints(size_t(in.rank()))};
  for (size_t i = 0; i < divided; ++i) {
    if (sizes[i] < 1 || sizes[i] > kMost)
      op.Bad("a block is out of range; got {}, expected 1 to {}", sizes[i], kMost);
    for (const int64_t border : {pairs[2 * i], pairs[2 * i + 1]})
      if (border < 0 || border > kMost)
        op.Bad("a border is out of range; got {}, expected 0 to {}", border, kMost);
    const size_t axis = size_t(AxisIn(b.order, int64_t(i) + 1));
    b.sizes[axis] = sizes[i];
    b.begins[axis] = pairs[2 * i];
    b.ends[axis] = pairs[2 * i + 1];
  }
  return b;
}

// Appends the dimensions that blocks divide, in the file's order of blocks.
std::vector<int> DividedAxes(const Blocks& b, int divided) {
  std::vector<int> axes;
  for (int i = 0; i < divided; ++i) axes.push_back(int(AxisIn(b.order, i + 1)));
  return axes;
}

// Returns whether the output has the bytes of the input, which then are moved as they are.
bool MovesBytes(const Op& op) {
  const auto& scales = op.info(0).scales;
  return scales && scales->one() && scales == op.out_info().scales;
}

// Pads, divides each image into blocks, and makes the pixels at the same place of all blocks an image.
void SpaceToBatch(Op& op) {
  const Blocks b = BlocksOf(op, "paddings");
  const std::vector<int> axes = DividedAxes(b, int(op.IntsOf(1, "block shape").size()));
  const bool bytes = MovesBytes(op);
  ValueId x = bytes ? op.raw(0, b.order) : op.in(0, b.order);
  Ints pads = b.begins;
  pads.insert(pads.end(), b.ends.begin(), b.ends.end());
  std::vector<ValueId> padded = {x, op.Ints(pads)};
  if (bytes) padded.push_back(op.ZeroOf(0));
  if (b.any()) x = op.Emit("Pad", std::move(padded));
  const Shape in = op.ShapeOf(x);
  Shape parts, out;
  Ints perm, kept, places(size_t(in.rank()));
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t size = b.sizes[size_t(i)];
    if (in[i] % size != 0 || in[i] == 0)
      op.Bad("blocks do not divide the image; got {} pixels for blocks of {}", in[i], size);
    kept.push_back(parts.rank());
    parts.push_back(in[i] / size);
    out.push_back(in[i] / size);
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) continue;
    places[size_t(i)] = parts.rank();
    parts.push_back(size);
  }
  out[0] *= b.of_batch();  // at most as many as the input has elements
  for (int axis : axes) perm.push_back(places[size_t(axis)]);
  perm.insert(perm.end(), kept.begin(), kept.end());
  const ValueId y = op.Reshape(op.Transpose(op.Reshape(x, parts), perm), out);
  return bytes ? op.OutRaw(0, b.order, y) : op.Out(0, b.order, y);
}

// The reverse: images become the pixels of blocks, and borders are cut off.
void BatchToSpace(Op& op) {
  const Blocks b = BlocksOf(op, "crops");
  const std::vector<int> axes = DividedAxes(b, int(op.IntsOf(1, "block shape").size()));
  const bool bytes = MovesBytes(op);
  const ValueId x = bytes ? op.raw(0, b.order) : op.in(0, b.order);
  const auto put = [&](ValueId y) { return bytes ? op.OutRaw(0, b.order, y) : op.Out(0, b.order, y); };
  const Shape in = op.ShapeOf(x);
  if (in[0] % b.of_batch() != 0)
    op.Bad("blocks do not divide the batch; got {} images for {}", in[0], b.of_batch());
  Shape parts, out;
  for (int axis : axes) parts.push_back(b.sizes[size_t(axis)]);
  Ints perm;
  for (int i = 0; i < in.rank(); ++i) {
    perm.push_back(parts.rank());
    parts.push_back(i == 0 ? in[0] / b.of_batch() : in[i]);
    out.push_back(i == 0 ? in[0] / b.of_batch() : in[i] * b.sizes[size_t(i)]);
    const auto divided = std::find(axes.begin(), axes.end(), i);
    if (divided != axes.end()) perm.push_back(divided - axes.begin());
  }
  const ValueId whole = op.Reshape(op.Transpose(op.Reshape(x, parts), perm), out);
  if (!b.any()) return put(whole);
  Ints starts, ends, at;
  for (int axis : axes) {
    const size_t i = size_t(axis);
    if (b.begins[i] + b.ends[i] > out[axis])
      op.Bad("the crops are larger than the image; got {} and {} of {}", b.begins[i], b.ends[i], out[axis]);
    starts.push_back(b.begins[i]);
    ends.push_back(out[axis] - b.ends[i]);
    at.push_back(axis);
  }
  put(op.Emit("Slice", {whole, op.Ints(starts), op.Ints(ends), op.Ints(at)}));
}

using Code = tflite::BuiltinOperator;

constexpr Row kImagesRows[] = {
    {Code::AVERAGE_POOL_2D, 1, 1, 1, Pool, "AveragePool"},
    {Code::BATCH_TO_SPACE_ND, 3, 3, 1, BatchToSpace},
    {Code::DEPTH_TO_SPACE, 1, 1, 1, DepthToSpace, "DepthToSpace"},
    {Code::L2_POOL_2D, 1, 1, 1, L2Pool},
    {Code::LOCAL_RESPONSE_NORMALIZATION, 1, 1, 1, LocalResponseNormalization},
    {Code::MAX_POOL_2D, 1, 1, 1, Pool, "MaxPool"},
    {Code::RESIZE_BILINEAR, 2, 2, 1, ResizeBilinear},
    {Code::RESIZE_NEAREST_NEIGHBOR, 2, 2, 1, ResizeNearest},
    {Code::SPACE_TO_BATCH_ND, 3, 3, 1, SpaceToBatch},
    {Code::SPACE_TO_DEPTH, 1, 1, 1, SpaceToDepth, "SpaceToDepth"},
};

}  // namespace

std::span<const Row> ImageRows() { return kImagesRows; }

}  // namespace mete::tflite_import
