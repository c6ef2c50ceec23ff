#include "processor/opencl/kernels/convolution.h"

#include <algorithm>

#include "base/error.h"

namespace mete::opencl {
namespace {

constexpr const char* kWhere = "GPU convolution";

void CheckBytes(const ConvSpec& spec) {
  const auto is_byte = [](DType type) { return type == DType::kU8 || type == DType::kI8; };
  if (!is_byte(spec.input) || !(is_byte(spec.output) || spec.output == DType::kF32) ||
      !(spec.weights == DType::kI8 || spec.weights == DType::kF16))
    Invalid(kWhere,
            "sums of bytes have other types; got {}, {} and {}, expected bytes, i8 or f16, and bytes or f32",
            Name(spec.input), Name(spec.weights), Name(spec.output));
  if (spec.activation.op != FusedOp::kNone || spec.residual || spec.scale != 1)
    Invalid(kWhere, "sums of bytes have an epilogue of f32; expected bounds of levels alone");
}

void Check(const ConvSpec& spec) {
  const ConvShape& s = spec.shape;
  const int64_t in = s.in_pixel_stride ? s.in_pixel_stride : s.in_channels;
  const int64_t out = s.out_pixel_stride ? s.out_pixel_stride : s.out_channels;
  CheckElements(kWhere, {s.batch * s.in_height * s.in_width * in + spec.input_first,
                         s.batch * spec.input_image + s.in_height * s.in_width * in,
                         s.batch * spec.output_image + s.out_height * s.out_width * out,
                         s.out_pixels() * out + spec.output_first,
                         s.out_pixels() * std::max(spec.residual_stride, s.out_channels), s.stride_x,
                         s.stride_y, s.dilation_x, s.dilation_y, s.groups});
  if (spec.bytes) CheckBytes(spec);
  if (s.in_channels % s.groups || s.out_channels % s.groups)
    Invalid(kWhere, "the groups do not divide the channels; got {} groups of {} and {} channels", s.groups,
            s.in_channels, s.out_channels);
}

bool SeesPixelsAlone(const ConvShape& s) {
  return s.kernel_height == 1 && s.kernel_width == 1 && s.stride_x == 1 && s.stride_y == 1 &&
         s.pad_top == 0 && s.pad_left == 0 && s.in_height == s.out_height && s.in_width == s.out_width;
}

}  // namespace

ConvShape SizedProduct(int64_t batch, int64_t m, int64_t n, int64_t k) {
  ConvShape s;
  s.batch = batch;
  s.in_width = s.out_width = m;
  s.in_channels = k;
  s.out_channels = n;
  return s;
}

ConvSpec Flattened(const ConvSpec& spec) {
  Check(spec);
  ConvSpec flat = spec;
  ConvShape& s = flat.shape;
  if (!SeesPixelsAlone(s)) return flat;
  s.in_width *= s.in_height;
  s.in_height = s.out_height = 1;
  if (!spec.weights_per_image && !spec.input_image && !spec.output_image) {
    s.in_width *= s.batch;
    s.batch = 1;
  }
  s.out_width = s.in_width;
  return flat;
}

std::vector<Tile> ConvTiles(const ConvSpec& spec, const TileDevice& device) {
  const ConvShape s = Flattened(spec).shape;
  return TileCandidates(device, s.out_height, s.out_width, s.out_channels / s.groups,
                        s.kernel_height * s.kernel_width * (s.in_channels / s.groups));
}

PackedConv PackedSizes(const ConvSpec& spec, const Tile& tile) {
  constexpr int64_t kLine = 64;  // bytes: vectors of 16 floats are aligned where the buffer is
  const ConvShape& s = spec.shape;
  PackedConv p;
  p.panel_channels = int64_t{tile.channels()} * tile.panel_tiles;
  p.panels = CeilDiv(s.out_channels / s.groups, p.panel_channels);
  p.steps = s.kernel_height * s.kernel_width * (s.in_channels / s.groups);
  p.sets = s.groups * (spec.weights_per_image ? s.batch : 1);
  const int64_t elements = p.sets * p.panels * p.steps * p.panel_channels;
  CheckElements(kWhere, {elements});
  p.bias_at = RoundUp(elements * int64_t(SizeOf(spec.weights)), kLine);
  const int64_t channels = RoundUp(s.groups * p.panels * p.panel_channels * int64_t(sizeof(float)), kLine);
  p.scale_at = p.bias_at + channels;
  p.zeros_at = p.scale_at + (spec.bytes ? channels : 0);
  p.bytes = p.zeros_at + RoundUp(s.in_channels / s.groups * int64_t(sizeof(float)), kLine);
  return p;
}

}  // namespace mete::opencl
