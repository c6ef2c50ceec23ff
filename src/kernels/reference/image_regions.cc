// The kernel of MaxRoiPool: the largest pixel of each bin of a region.
#include <algorithm>
#include <cmath>

#include "kernels/reference/image_kernels.h"
#include "kernels/reference/indexing.h"
#include "kernels/reference/number.h"

namespace mete {
namespace {

struct Pixels {
  int64_t begin, end;
};

// The bins along one axis of a region, whose first pixel is `start`. Neighbouring bins may share pixels. The
// edges are computed in f32, as the authors of the operator do.
struct Bins {
  int64_t start;
  float size;

  Pixels At(int64_t bin, int64_t pixels) const {
    const int64_t first = start + int64_t(std::floor(float(bin) * size)),
                  end = start + int64_t(std::ceil(float(bin + 1) * size));
    return {std::clamp<int64_t>(first, 0, pixels), std::clamp<int64_t>(end, 0, pixels)};
  }
};

// Returns a corner in whole pixels, far outside of every image at most. The product is rounded to f32, too: 5
// at a scale of 0.7 is 3.5, and becomes 4.
int64_t PixelOf(double corner, float scale) {
  constexpr double kFar = 1 << 30;
  const double pixel = std::round(double(float(corner) * scale));
  if (std::isnan(pixel)) Fail(Code::kOutOfRange, "MaxRoiPool", "a corner of a region is no number; got nan");
  return int64_t(std::clamp(pixel, -kFar, kFar));
}

// A region has a pixel at least, and both its corners are inside.
Bins BinsOf(double from, double to, float scale, int64_t count) {
  const int64_t start = PixelOf(from, scale), pixels = std::max<int64_t>(PixelOf(to, scale) - start + 1, 1);
  return {start, float(pixels) / float(count)};
}

template <class T>
T LargestOf(const T* plane, int64_t width, Pixels rows, Pixels columns) {
  if (rows.end <= rows.begin || columns.end <= columns.begin) return FromDouble<T>(0);
  T largest = plane[rows.begin * width + columns.begin];
  for (int64_t y = rows.begin; y < rows.end; ++y)
    for (int64_t x = columns.begin; x < columns.end; ++x)
      if (const T pixel = plane[y * width + x]; double(pixel) > double(largest)) largest = pixel;
  return largest;
}

template <class T>
void PoolRegion(const ConstView& in, const T* region, float scale, const Shape& out, T* to) {
  const double image = double(region[0]);
  if (!(image >= 0 && image < double(in.shape[0])))
    Fail(Code::kOutOfRange, "MaxRoiPool", "a region is of no image; got number {}, expected 0 to {}", image,
         in.shape[0] - 1);
  const int64_t height = in.shape[2], width = in.shape[3], channels = in.shape[1];
  const Bins x = BinsOf(double(region[1]), double(region[3]), scale, out[3]),
             y = BinsOf(double(region[2]), double(region[4]), scale, out[2]);
  const T* plane = in.as<T>() + int64_t(image) * channels * height * width;
  for (int64_t c = 0; c < channels; ++c, plane += height * width)
    for (int64_t py = 0; py < out[2]; ++py)
      for (int64_t px = 0; px < out[3]; ++px)
        *to++ = LargestOf(plane, width, y.At(py, height), x.At(px, width));
}

}  // namespace

void RunMaxRoiPool(RefArgs& args) {
  const ConstView& in = args.in[0];
  const Shape& out = args.out[0].shape;
  const float scale = args.attributes.Float("spatial_scale", 1);
  const int64_t each = out.Elements(1, 4);
  VisitFloat(in.type, [&]<class T>() {
    for (int64_t r = 0; r < out[0]; ++r)
      PoolRegion(in, args.in[1].as<T>() + r * 5, scale, out, args.out[0].as<T>() + r * each);
  });
}

}  // namespace mete
