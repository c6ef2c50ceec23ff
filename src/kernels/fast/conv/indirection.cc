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

// Returns whether to join the taps of a kernel row. This is faster if a single tap is too short to hide the
// tile's overhead, for example the 3 channels of a first layer. With more channels than the limit, the copies
// at the edges cost more than joining saves.
bool CanJoin(const ConvShape& s) {
  constexpr int64_t kFewChannels = 16;  // this value is a guess
  const bool dense = s.in_pixel_stride == 0 || s.in_pixel_stride == s.in_channels;
  return s.groups == 1 && s.dilation_x == 1 && s.kernel_width > 1 && s.in_channels <= kFewChannels && dense;
}

// Returns the bytes of a pixel's pointers and copies.
int64_t TableBytesOfPixel(const ConvTaps& t, int64_t element_bytes) {
  return t.taps * (int64_t{sizeof(void*)} + (t.joined ? t.tap_length * element_bytes : 0));
}

// Returns the input row that kernel row `ky` reads, or null if this row is in the padding.
template <class T>
const T* InputRow(const ConvShape& s, const T* input, const Run& run, int64_t ky) {
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

// Writes pointers to `first` and to the elements behind it that are `step` apart.
template <class T>
const T** Steps(const T* first, int64_t step, int64_t count, const T** to) {
  for (int64_t i = 0; i < count; ++i, first += step) to[i] = first;
  return to + count;
}

// Returns whether each output pixel reads the input pixel of its own number, so that rows and images follow
// each other without a break.
bool ReadsOwnPixel(const ConvShape& s) {
  return s.kernel_height == 1 && s.kernel_width == 1 && s.stride_y == 1 && s.stride_x == 1 &&
         s.pad_top == 0 && s.pad_left == 0 && s.out_height == s.in_height && s.out_width == s.in_width;
}

// Fills the table with one pointer for each tap.
template <class T>
void FillTaps(const ConvShape& s, const ConvTaps& taps, const T* input, const T* padding, const Run& run,
              const T** table) {
  const int64_t step = s.stride_x * PixelStride(s);
  for (int64_t ky = 0; ky < s.kernel_height; ++ky) {
    const T* row = InputRow(s, input, run, ky);
    for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
      const T** to = table + (ky * s.kernel_width + kx) * taps.pass + run.entry;
      const int64_t offset = kx * s.dilation_x - s.pad_left;
      const Range inside = row ? Inside(s, run.x, offset, 1) : Range{run.x.begin, run.x.begin};
      to = std::fill_n(to, inside.begin - run.x.begin, padding);
      if (inside.size() > 0)
        to = Steps(row + inside.begin * step + offset * PixelStride(s), step, inside.size(), to);
      std::fill_n(to, run.x.end - inside.end, padding);
    }
  }
}

// Copies a kernel row's inputs that cross the input's edge to `to`, with padding around them. Returns `to`.
template <class T>
const T* CopyAcross(const ConvShape& s, const T* row, T padding, int64_t left, T* to) {
  const int64_t begin = std::clamp<int64_t>(-left, 0, s.kernel_width);
  const int64_t end = std::clamp<int64_t>(s.in_width - left, begin, s.kernel_width);
  T* next = std::fill_n(to, begin * s.in_channels, padding);
  next = std::copy_n(row + (left + begin) * s.in_channels, (end - begin) * s.in_channels, next);
  std::fill(next, to + s.kernel_width * s.in_channels, padding);
  return to;
}

// Fills the table with one pointer for each kernel row. Inputs that cross the input's edge are copied.
template <class T>
void FillJoined(const ConvShape& s, const ConvTaps& taps, const T* input, const T* padding, const Run& run,
                const T** table, T* copies) {
  for (int64_t ky = 0; ky < s.kernel_height; ++ky) {
    const T* row = InputRow(s, input, run, ky);
    const int64_t first = ky * taps.pass + run.entry;
    if (!row) {
      std::fill_n(table + first, run.x.size(), padding);
      continue;
    }
    const Range inside = Inside(s, run.x, -s.pad_left, s.kernel_width);
    const auto left = [&](int64_t x) { return x * s.stride_x - s.pad_left; };
    const auto copy = [&](Range columns) {
      for (int64_t x = columns.begin, entry = first + x - run.x.begin; x < columns.end; ++x, ++entry)
        table[entry] = CopyAcross(s, row, *padding, left(x), copies + entry * taps.tap_length);
    };
    copy({run.x.begin, inside.begin});
    if (inside.size() > 0)
      Steps(row + left(inside.begin) * s.in_channels, s.stride_x * s.in_channels, inside.size(),
            table + first + inside.begin - run.x.begin);
    copy({inside.end, run.x.end});
  }
}

}  // namespace

ConvTaps PlanTaps(const ConvShape& s, int64_t row_step, int64_t element_bytes) {
  // The pointers and copies of a pass stay in the first-level cache.
  constexpr int64_t kTableBytes = 16 << 10;
  ConvTaps t;
  t.joined = CanJoin(s);
  t.taps = t.joined ? s.kernel_height : s.kernel_height * s.kernel_width;
  t.tap_length = t.joined ? s.kernel_width * s.in_channels : s.in_channels / s.groups;
  t.pass = std::clamp<int64_t>(kTableBytes / TableBytesOfPixel(t, element_bytes), 4 * row_step, 128);
  return t;
}

size_t TableBytes(const ConvTaps& t, int64_t element_bytes) {
  return static_cast<size_t>(t.pass * TableBytesOfPixel(t, element_bytes));
}

template <class T>
void FillIndirection(const ConvShape& s, const ConvTaps& taps, const T* input, const T* padding, Range pixels,
                     const T** table, T* joined) {
  const int64_t stride = PixelStride(s);
  if (ReadsOwnPixel(s)) {
    Steps(input + pixels.begin * stride, stride, pixels.size(), table);
    return;
  }
  for (int64_t pixel = pixels.begin; pixel < pixels.end;) {
    const int64_t row = pixel / s.out_width, x = pixel % s.out_width;
    const int64_t end = std::min(s.out_width, x + pixels.end - pixel);
    const Run run = {row / s.out_height, row % s.out_height, {x, end}, pixel - pixels.begin};
    if (taps.joined) FillJoined(s, taps, input, padding, run, table, joined);
    else FillTaps(s, taps, input, padding, run, table);
    pixel += run.x.size();
  }
}

template void FillIndirection(const ConvShape&, const ConvTaps&, const float*, const float*, Range,
                              const float**, float*);
template void FillIndirection(const ConvShape&, const ConvTaps&, const uint8_t*, const uint8_t*, Range,
                              const uint8_t**, uint8_t*);
template void FillIndirection(const ConvShape&, const ConvTaps&, const uint16_t*, const uint16_t*, Range,
                              const uint16_t**, uint16_t*);

}  // namespace mete
