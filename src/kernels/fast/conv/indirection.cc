#include "kernels/fast/conv/indirection.h"

#include <algorithm>

namespace mete {
namespace {

// The output pixels [x.begin, x.end) of one output row. Their table entries are `entry`, `entry` + 1, ...
struct Run {
  int64_t n, y;
  Range x;
  int64_t entry;
};

int64_t PixelStride(const ConvShape& s) { return s.in_pixel_stride ? s.in_pixel_stride : s.in_channels; }

// Returns the input row that kernel row `ky` reads, or null if this row is in the padding.
const float* InputRow(const ConvShape& s, const float* input, const Run& run, int64_t ky) {
  const int64_t y = run.y * s.stride_y - s.pad_top + ky * s.dilation_y;
  if (y < 0 || y >= s.in_height) return nullptr;
  return input + (run.n * s.in_height + y) * s.in_width * PixelStride(s);
}

// Returns the range of all x in `outputs` for which `length` columns from x * stride + offset on are inside
// the input.
Range Inside(const ConvShape& s, Range outputs, int64_t offset, int64_t length) {
  auto ceil_div = [](int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : 0; };
  const int64_t end = s.in_width - length - offset < 0 ? 0 : (s.in_width - length - offset) / s.stride_x + 1;
  const int64_t begin = std::clamp(ceil_div(-offset, s.stride_x), outputs.begin, outputs.end);
  return {begin, std::clamp(end, begin, outputs.end)};
}

// Fills the table with one pointer for each tap.
void FillTaps(const ConvPlan& plan, const float* input, const float* zeros, const Run& run,
              const float** table) {
  const ConvShape& s = plan.shape;
  const int64_t step = s.stride_x * PixelStride(s);
  for (int64_t ky = 0; ky < s.kernel_height; ++ky) {
    const float* row = InputRow(s, input, run, ky);
    for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
      const float** to = table + (ky * s.kernel_width + kx) * plan.pass + run.entry;
      const int64_t offset = kx * s.dilation_x - s.pad_left;
      const Range inside = row ? Inside(s, run.x, offset, 1) : Range{run.x.begin, run.x.begin};
      to = std::fill_n(to, inside.begin - run.x.begin, zeros);
      for (int64_t x = inside.begin; x < inside.end; ++x) *to++ = row + x * step + offset * PixelStride(s);
      std::fill_n(to, run.x.end - inside.end, zeros);
    }
  }
}

// Copies a kernel row's inputs that cross the input's edge to `to`, with zeros for the padding. Returns `to`.
const float* CopyAcross(const ConvShape& s, const float* row, int64_t left, float* to) {
  const int64_t begin = std::clamp<int64_t>(-left, 0, s.kernel_width);
  const int64_t end = std::clamp<int64_t>(s.in_width - left, begin, s.kernel_width);
  float* next = std::fill_n(to, begin * s.in_channels, 0.0f);
  next = std::copy_n(row + (left + begin) * s.in_channels, (end - begin) * s.in_channels, next);
  std::fill(next, to + s.kernel_width * s.in_channels, 0.0f);
  return to;
}

// Fills the table with one pointer for each kernel row. Inputs that cross the input's edge are copied.
void FillJoined(const ConvPlan& plan, const float* input, const float* zeros, const Run& run,
                const float** table, float* copies) {
  const ConvShape& s = plan.shape;
  for (int64_t ky = 0; ky < s.kernel_height; ++ky) {
    const float* row = InputRow(s, input, run, ky);
    const int64_t first = ky * plan.pass + run.entry;
    if (!row) {
      std::fill_n(table + first, run.x.size(), zeros);
      continue;
    }
    const Range inside = Inside(s, run.x, -s.pad_left, s.kernel_width);
    for (int64_t x = run.x.begin; x < run.x.end; ++x) {
      const int64_t left = x * s.stride_x - s.pad_left, entry = first + x - run.x.begin;
      const bool whole = x >= inside.begin && x < inside.end;
      table[entry] =
          whole ? row + left * s.in_channels : CopyAcross(s, row, left, copies + entry * plan.tap_length);
    }
  }
}

}  // namespace

void FillIndirection(const ConvPlan& plan, const float* input, const float* zeros, Range pixels,
                     const float** table, float* joined) {
  const ConvShape& s = plan.shape;
  for (int64_t pixel = pixels.begin; pixel < pixels.end;) {
    const int64_t row = pixel / s.out_width, x = pixel % s.out_width;
    const int64_t end = std::min(s.out_width, x + pixels.end - pixel);
    const Run run = {row / s.out_height, row % s.out_height, {x, end}, pixel - pixels.begin};
    if (plan.joined) FillJoined(plan, input, zeros, run, table, joined);
    else FillTaps(plan, input, zeros, run, table);
    pixel += run.x.size();
  }
}

}  // namespace mete
