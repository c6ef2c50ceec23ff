#include "kernels/fast/pool/taps.h"

#include <algorithm>

namespace mete {
namespace {

// Returns the taps [begin, end) of a kernel of `size` taps whose positions start + tap * dilation are in
// [low, high).
Range TapsWithin(int64_t start, int64_t size, int64_t dilation, int64_t low, int64_t high) {
  const auto up_to = [&](int64_t limit) {
    return limit <= start ? 0 : std::min(size, (limit - start + dilation - 1) / dilation);
  };
  const int64_t begin = up_to(low);
  return {begin, std::max(begin, up_to(high))};
}

}  // namespace

PoolTaps PoolTapsAt(const PoolShape& shape, int64_t pixel) {
  const ConvShape& s = shape.window;
  const int64_t stride = s.in_pixel_stride ? s.in_pixel_stride : s.in_channels;
  const int64_t n = pixel / (s.out_height * s.out_width);
  const int64_t top = pixel / s.out_width % s.out_height * s.stride_y - s.pad_top;
  const int64_t left = pixel % s.out_width * s.stride_x - s.pad_left;
  const Range ys = TapsWithin(top, s.kernel_height, s.dilation_y, 0, s.in_height);
  const Range xs = TapsWithin(left, s.kernel_width, s.dilation_x, 0, s.in_width);
  PoolTaps taps;
  taps.row_step = s.dilation_y * s.in_width * stride;
  taps.column_step = s.dilation_x * stride;
  taps.step = s.stride_x * stride;
  if (ys.size() * xs.size() > 0) {
    const int64_t y = top + ys.begin * s.dilation_y, x = left + xs.begin * s.dilation_x;
    taps.first = ((n * s.in_height + y) * s.in_width + x) * stride;
    taps.rows = ys.size();
    taps.columns = xs.size();
  }
  int64_t divisor = ys.size() * xs.size();
  if (shape.count_include_pad) {
    divisor =
        TapsWithin(top, s.kernel_height, s.dilation_y, -s.pad_top, s.in_height + shape.pad_bottom).size() *
        TapsWithin(left, s.kernel_width, s.dilation_x, -s.pad_left, s.in_width + shape.pad_right).size();
  }
  taps.divisor = std::max<int64_t>(divisor, 1);
  return taps;
}

Range InnerColumns(const PoolShape& shape) {
  const ConvShape& s = shape.window;
  const int64_t rest = s.in_width - 1 - s.dilation_x * (s.kernel_width - 1) + s.pad_left;
  const int64_t begin = (s.pad_left + s.stride_x - 1) / s.stride_x;
  return {begin, rest < 0 ? begin : std::clamp(rest / s.stride_x + 1, begin, std::max(begin, s.out_width))};
}

}  // namespace mete
