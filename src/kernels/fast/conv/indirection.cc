#include "kernels/fast/conv/indirection.h"

#include <algorithm>

namespace mete {
namespace {

struct Pixel {
  int64_t n, y, x;
};

Pixel Locate(const ConvShape& s, int64_t index) {
  const int64_t plane = s.out_height * s.out_width;
  const int64_t in_plane = index % plane;
  return {index / plane, in_plane / s.out_width, in_plane % s.out_width};
}

void Advance(const ConvShape& s, Pixel& p) {
  if (++p.x < s.out_width) return;
  p.x = 0;
  if (++p.y < s.out_height) return;
  p.y = 0;
  ++p.n;
}

int64_t PixelStride(const ConvShape& s) { return s.in_pixel_stride ? s.in_pixel_stride : s.in_channels; }

// The input row that kernel row `ky` meets, or null if it lies in the padding.
const float* InputRow(const ConvShape& s, const float* input, const Pixel& p, int64_t ky) {
  const int64_t y = p.y * s.stride_y - s.pad_top + ky * s.dilation_y;
  if (y < 0 || y >= s.in_height) return nullptr;
  return input + (p.n * s.in_height + y) * s.in_width * PixelStride(s);
}

// One pointer a tap.
void FillTaps(const ConvPlan& plan, const float* input, const float* zeros, const Pixel& p, const float** to) {
  const ConvShape& s = plan.shape;
  const int64_t left = p.x * s.stride_x - s.pad_left;
  for (int64_t ky = 0; ky < s.kernel_height; ++ky) {
    const float* row = InputRow(s, input, p, ky);
    for (int64_t kx = 0; kx < s.kernel_width; ++kx, to += plan.pass) {
      const int64_t x = left + kx * s.dilation_x;
      *to = row != nullptr && x >= 0 && x < s.in_width ? row + x * PixelStride(s) : zeros;
    }
  }
}

// One pointer a kernel row; a row that straddles the edge becomes a copy.
void FillJoined(const ConvPlan& plan, const float* input, const float* zeros, const Pixel& p, const float** to, float* copies) {
  const ConvShape& s = plan.shape;
  const int64_t left = p.x * s.stride_x - s.pad_left;
  const int64_t begin = std::clamp<int64_t>(-left, 0, s.kernel_width);
  const int64_t end = std::clamp<int64_t>(s.in_width - left, begin, s.kernel_width);
  for (int64_t ky = 0; ky < s.kernel_height; ++ky, to += plan.pass, copies += plan.pass * plan.tap_length) {
    const float* row = InputRow(s, input, p, ky);
    if (row == nullptr || begin == end) {
      *to = zeros;
    } else if (begin == 0 && end == s.kernel_width) {
      *to = row + left * s.in_channels;
    } else {
      float* next = std::fill_n(copies, begin * s.in_channels, 0.0f);
      next = std::copy_n(row + (left + begin) * s.in_channels, (end - begin) * s.in_channels, next);
      std::fill(next, copies + plan.tap_length, 0.0f);
      *to = copies;
    }
  }
}

}  // namespace

void FillIndirection(const ConvPlan& plan, const float* input, const float* zeros, Range pixels, const float** table, float* joined) {
  Pixel p = Locate(plan.shape, pixels.begin);
  for (int64_t i = 0; i < pixels.size(); ++i, Advance(plan.shape, p)) {
    if (plan.joined) {
      FillJoined(plan, input, zeros, p, table + i, joined + i * plan.tap_length);
    } else {
      FillTaps(plan, input, zeros, p, table + i);
    }
  }
}

}  // namespace mete
