// Resizes a picture with a weighted sum of neighbours along the rows, then along the columns.
#include <algorithm>
#include <cmath>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/error.h"
#include "image/resize.h"

namespace mete {
namespace {

// Returns the distance in output pixels at which the filter ends.
int Reach(Interpolation interpolation) { return interpolation == Interpolation::kBicubic ? 2 : 1; }

// Returns the filter's value at distance x: the triangle, or Keys' cubic with a = -1/2.
double Weight(double x, Interpolation interpolation) {
  x = std::abs(x);
  if (interpolation != Interpolation::kBicubic) return std::max(0.0, 1.0 - x);
  constexpr double a = -0.5;
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

int32_t FixedPoint(double weight) { return int32_t(weight * (1 << kWeightBits) + (weight < 0 ? -0.5 : 0.5)); }

Taps MakeTaps(int from, int to, Interpolation interpolation) {
  const double ratio = double(from) / to;
  const double stretch = interpolation == Interpolation::kBilinear ? 1.0 : std::max(ratio, 1.0);
  const double support = stretch * Reach(interpolation);  // half the filter's base, in source pixels
  Taps taps;
  taps.count = int(std::ceil(support)) * 2 + 1;
  taps.first.resize(size_t(to));
  taps.weight.resize(size_t(to) * size_t(taps.count));
  std::vector<double> w(size_t(taps.count), 0.0);
  for (int i = 0; i < to; ++i) {
    const double center = (i + 0.5) * ratio;
    const int first = std::max(0, int(std::floor(center - support + 0.5)));
    const int last = std::min(from, int(std::floor(center + support + 0.5)));
    double sum = 0;
    for (int j = first; j < last; ++j) {
      w[size_t(j - first)] = Weight((j - center + 0.5) * (1.0 / stretch), interpolation);
      sum += w[size_t(j - first)];
    }
    taps.first[size_t(i)] = first;
    for (int j = 0; j < last - first; ++j)
      taps.weight[size_t(i) * size_t(taps.count) + size_t(j)] = FixedPoint(w[size_t(j)] * (1.0 / sum));
  }
  return taps;
}

uint8_t Rounded(int64_t sum) {
  return uint8_t(std::clamp<int64_t>((sum + (1 << (kWeightBits - 1))) >> kWeightBits, 0, 255));
}

void ResizeRow(const Taps& taps, int from_width, int to_width, const uint8_t* from, uint8_t* to) {
  for (int x = 0; x < to_width; ++x, to += 3) {
    const int first = taps.first[size_t(x)], n = std::min(taps.count, from_width - first);
    const int32_t* w = taps.weight.data() + size_t(x) * size_t(taps.count);
    const uint8_t* pixel = from + size_t(first) * 3;
    int64_t sum[3] = {};
    for (int j = 0; j < n; ++j)
      for (int c = 0; c < 3; ++c) sum[c] += int64_t(w[j]) * pixel[j * 3 + c];
    for (int c = 0; c < 3; ++c) to[c] = Rounded(sum[c]);
  }
}

#ifdef __x86_64__
// The sums of a pixel's channels are the first three of a vector; the fourth one is of the byte behind it.
[[gnu::target("sse4.1")]] void ResizeRowBySse4(const Taps& taps, int from_width, int to_width,
                                               const uint8_t* from, uint8_t* to) {
  const auto weighted = [](uint32_t bytes, int32_t weight) __attribute__((target("sse4.1"), always_inline)) {
    return _mm_mullo_epi32(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(int(bytes))), _mm_set1_epi32(weight));
  };
  for (int x = 0; x < to_width; ++x, to += 3) {
    const int first = taps.first[size_t(x)], n = std::min(taps.count, from_width - first);
    const int32_t* w = taps.weight.data() + size_t(x) * size_t(taps.count);
    const uint8_t* pixel = from + size_t(first) * 3;
    const int with_next =
        first + n == from_width ? n - 1 : n;  // behind the row's last pixel there is no byte
    __m128i sum = _mm_setzero_si128();
    uint32_t bytes = 0;
    for (int j = 0; j < with_next; ++j, pixel += 3) {
      std::memcpy(&bytes, pixel, 4);
      sum = _mm_add_epi32(sum, weighted(bytes, w[j]));
    }
    bytes = 0;
    if (with_next < n) {
      std::memcpy(&bytes, pixel, 3);
      sum = _mm_add_epi32(sum, weighted(bytes, w[with_next]));
    }
    alignas(16) int32_t channels[4];
    _mm_store_si128(reinterpret_cast<__m128i*>(channels), sum);
    for (int c = 0; c < 3; ++c) to[c] = Rounded(channels[c]);
  }
}
#endif

auto FastestResizeRow() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.1")) return ResizeRowBySse4;
#endif
  return ResizeRow;
}

Image ResizeWidth(const Image& in, int width, Interpolation interpolation) {
  const RowResizer rows(in.width, width, interpolation);
  Image out(width, in.height);
  for (int y = 0; y < in.height; ++y) rows.Resize(in.row(y), out.row(y));
  return out;
}

Image ResizeHeight(const Image& in, int height, Interpolation interpolation) {
  const Taps taps = MakeTaps(in.height, height, interpolation);
  Image out(in.width, height);
  std::vector<int64_t> sum(size_t(in.width) * 3);
  for (int y = 0; y < height; ++y) {
    const int first = taps.first[size_t(y)], n = std::min(taps.count, in.height - first);
    std::fill(sum.begin(), sum.end(), 0);
    for (int j = 0; j < n; ++j) {
      const int64_t w = taps.weight[size_t(y) * size_t(taps.count) + size_t(j)];
      const uint8_t* from = in.row(first + j);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += w * from[i];
    }
    std::transform(sum.begin(), sum.end(), out.row(y), Rounded);
  }
  return out;
}

}  // namespace

RowResizer::RowResizer(int from, int to, Interpolation interpolation, bool portable)
    : from_(from),
      to_(to),
      taps_(MakeTaps(from, to, interpolation)),
      resize_(portable ? ResizeRow : FastestResizeRow()) {}

bool CanResizeTo(int width, int height, int from_height) {
  return width > 0 && height > 0 && width <= kMostPictureSide && height <= kMostPictureSide &&
         int64_t(width) * std::max(height, from_height) <= kMaxImagePixels;
}

Image ResizeImage(const Image& image, int width, int height, Interpolation interpolation) {
  if (image.width <= 0 || image.height <= 0)
    Invalid("resize", "the picture has no pixels; got {} x {}", image.width, image.height);
  if (!CanResizeTo(width, height, image.height))
    Invalid(
        "resize",
        "cannot make a picture of {} x {} out of {} x {}; expected sides of 1 to {} and at most {} pixels",
        width, height, image.width, image.height, kMostPictureSide, kMaxImagePixels);
  if (width == image.width && height == image.height) return image;
  Image resized = width == image.width ? image : ResizeWidth(image, width, interpolation);
  if (height != image.height) resized = ResizeHeight(resized, height, interpolation);
  resized.name = image.name;
  return resized;
}

Image CropCenter(const Image& image, int width, int height) {
  if (width <= 0 || height <= 0 || width > image.width || height > image.height)
    Invalid(image.name.empty() ? "crop" : image.name,
            "the part to crop does not fit into the picture; got {}x{}, expected 1x1 to {}x{}; try "
            "a larger resize_shorter before, or a smaller crop",
            width, height, image.width, image.height);
  Image out(width, height);
  const size_t left = size_t(image.width - width) / 2;
  const int top = (image.height - height) / 2;
  for (int y = 0; y < height; ++y) std::copy_n(image.row(top + y) + left * 3, size_t(width) * 3, out.row(y));
  return out;
}

}  // namespace mete
