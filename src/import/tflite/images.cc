// Conversions of pools, resizes, and what moves pixels between space and depth.
#include "import/tflite/window.h"

namespace mete::tflite_import {
namespace {

void NeedImage(const Op& op) {
  if (op.shape().rank() != 4) op.Bad("{} needs 4 dimensions; got {}", op.kind(), ToString(op.shape()));
}

void Pool(Op& op) {
  const auto& o = op.Need<tflite::Pool2DOptions>();
  const Window window{{o.filter_h(), o.filter_w()}, {o.stride_h(), o.stride_w()}};
  const Attributes attributes = AttributesOf(op, window, o.padding(), op.shape());
  const ValueId y = op.Emit(op.onnx(), {op.in(0, Order::kPlanar)}, attributes);
  op.Out(0, Order::kPlanar, op.Activated(y, o.activation()));
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

using Code = tflite::BuiltinOperator;

constexpr Row kRows[] = {
    {Code::AVERAGE_POOL_2D, 1, 1, 1, Pool, "AveragePool"},
    {Code::DEPTH_TO_SPACE, 1, 1, 1, DepthToSpace, "DepthToSpace"},
    {Code::MAX_POOL_2D, 1, 1, 1, Pool, "MaxPool"},
    {Code::RESIZE_BILINEAR, 2, 2, 1, ResizeBilinear},
    {Code::RESIZE_NEAREST_NEIGHBOR, 2, 2, 1, ResizeNearest},
    {Code::SPACE_TO_DEPTH, 1, 1, 1, SpaceToDepth, "SpaceToDepth"},
};

}  // namespace

std::span<const Row> ImageRows() { return kRows; }

}  // namespace mete::tflite_import
