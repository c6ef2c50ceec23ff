// Kernels of GridSample and RoiAlign, which read images between their pixels.
#include <cmath>

#include "kernels/reference/image_kernels.h"
#include "kernels/reference/indexing.h"
#include "kernels/reference/number.h"

namespace mete {
namespace {

// --- GridSample ---

enum class Padding { kZeros, kBorder, kReflection };
enum class Sampling { kNearest, kLinear, kCubic };

// The pixels along one axis from which a coordinate is interpolated. The index -1 stands for a zero outside
// the image.
struct Taps {
  int count = 1;
  int64_t index[4] = {0, 0, 0, 0};
  double weight[4] = {1, 0, 0, 0};
};

struct Grid {
  Sampling sampling;
  Padding padding;
  bool align_corners;
};

// Mirrors x at `low` and `high` until it lies between them.
double Reflect(double x, double low, double high) {
  const double range = high - low;
  if (!(range > 0)) return low;
  const double past = x < low ? low - x : x - high;
  if (past <= 0) return x;
  const double rest = std::fmod(past, range);
  const bool even = std::fmod(std::floor(past / range), 2) == 0;
  return (x < low) == even ? low + rest : high - rest;
}

struct Border {
  double low, high;
  Border(const Grid& g, int64_t n)
      : low(g.align_corners ? 0 : -0.5), high(double(n) - (g.align_corners ? 1 : 0.5)) {}
};

int64_t PixelIndex(const Grid& g, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  if (g.padding == Padding::kZeros) return -1;
  if (g.padding == Padding::kBorder) return std::clamp<int64_t>(i, 0, n - 1);
  const Border border(g, n);
  return std::clamp<int64_t>(int64_t(Reflect(double(i), border.low, border.high)), 0, n - 1);
}

// Computes the four weights of Keys' cubic with a = -0.75.
void CubicWeights(double t, double* w) {
  constexpr double a = -0.75;
  const auto far = [](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  const auto near = [](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  w[0] = far(t + 1);
  w[1] = near(t);
  w[2] = near(1 - t);
  w[3] = far(2 - t);
}

Taps TapsAt(const Grid& g, double x, int64_t n) {
  if (g.sampling == Sampling::kNearest) x = std::nearbyint(x);
  const Border border(g, n);
  if (!(x >= border.low && x <= border.high)) {  // also true for NaN
    if (g.padding == Padding::kBorder) x = std::isnan(x) ? 0 : std::clamp<double>(x, 0, double(n - 1));
    else if (g.padding == Padding::kReflection)
      x = std::isfinite(x) ? Reflect(x, border.low, border.high) : border.low;
    else
      x = std::isnan(x) ? -4
                        : std::clamp<double>(x, -4, double(n) + 4);  // no tap reaches back into the image
  }
  Taps taps;
  const double floor = std::floor(x);
  if (g.sampling == Sampling::kNearest) {
    taps.index[0] = PixelIndex(g, int64_t(x), n);
    return taps;
  }
  const bool cubic = g.sampling == Sampling::kCubic;
  taps.count = cubic ? 4 : 2;
  for (int k = 0; k < taps.count; ++k) taps.index[k] = PixelIndex(g, int64_t(floor) + k - cubic, n);
  if (cubic) CubicWeights(x - floor, taps.weight);
  else {
    taps.weight[0] = 1 - (x - floor);
    taps.weight[1] = x - floor;
  }
  return taps;
}

template <class T>
double SamplePlane(const T* plane, const Shape& size, const std::array<Taps, 3>& taps) {
  double sum = 0;
  const auto& [z, y, x] = taps;
  for (int a = 0; a < z.count; ++a)
    for (int b = 0; b < y.count; ++b)
      for (int c = 0; c < x.count; ++c)
        if (z.index[a] >= 0 && y.index[b] >= 0 && x.index[c] >= 0)
          sum += z.weight[a] * y.weight[b] * x.weight[c] *
                 double(plane[(z.index[a] * size[1] + y.index[b]) * size[2] + x.index[c]]);
  return sum;
}

// Maps a coordinate in [-1, 1] to pixels. C is float for a float grid, so that the mode "nearest" rounds the
// same number as other engines.
template <class C>
C Denormalize(C n, int64_t length, bool align_corners) {
  return align_corners ? (n + 1) / 2 * C(length - 1) : ((n + 1) * C(length) - 1) / 2;
}

double CoordinateAt(const ConstView& grid, int64_t i, int64_t length, bool align_corners) {
  if (grid.type == DType::kF64) return Denormalize(grid.as<double>()[i], length, align_corners);
  return VisitFloat(grid.type, [&]<class T>() {
    return double(Denormalize(float(grid.as<T>()[i]), length, align_corners));
  });
}

Grid GridOf(const Attributes& attributes) {
  const auto mode = attributes.String("mode", "linear"), padding = attributes.String("padding_mode", "zeros");
  Grid g{Sampling::kLinear, Padding::kZeros, attributes.Int("align_corners", 0) != 0};
  if (mode == "nearest") g.sampling = Sampling::kNearest;
  if (mode == "cubic" || mode == "bicubic") g.sampling = Sampling::kCubic;
  if (padding == "border") g.padding = Padding::kBorder;
  if (padding == "reflection") g.padding = Padding::kReflection;
  return g;
}

// --- RoiAlign ---

// The four pixels around a point and their weights.
struct Corners {
  int64_t at[4] = {0, 0, 0, 0};
  double weight[4] = {0, 0, 0, 0};
};

Corners CornersAt(double y, double x, int64_t height, int64_t width) {
  Corners c;
  if (!(y >= -1 && y <= double(height) && x >= -1 && x <= double(width))) return c;
  y = std::clamp<double>(y, 0, double(height - 1));
  x = std::clamp<double>(x, 0, double(width - 1));
  const int64_t y0 = int64_t(y), x0 = int64_t(x), y1 = std::min(y0 + 1, height - 1),
                x1 = std::min(x0 + 1, width - 1);
  const double fy = y - double(y0), fx = x - double(x0);
  return {{y0 * width + x0, y0 * width + x1, y1 * width + x0, y1 * width + x1},
          {(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx}};
}

struct RoiAxis {
  double start, bin;
  int64_t samples;  // per bin

  double At(int64_t p, int64_t i) const {
    return start + double(p) * bin + (double(i) + 0.5) * bin / double(samples);
  }
};

// The limit of samples per bin along an axis, so that a huge region gives an error instead of an endless
// loop. This value is a guess: a large image has about as many pixels along an axis.
constexpr double kMaxSamples = 1 << 12;

RoiAxis AxisOf(const Attributes& a, double from, double to, int64_t bins) {
  const bool half_pixel = a.String("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const double scale = a.Float("spatial_scale", 1), shift = half_pixel ? 0.5 : 0;
  const double start = from * scale - shift, extent = to * scale - shift - start,
               size = half_pixel ? extent : std::max(extent, 1.0);
  const double bin = size / double(bins), asked = double(a.Int("sampling_ratio", 0)),
               samples = asked > 0 ? asked : std::ceil(bin);
  if (!(samples <= kMaxSamples))
    Fail(Code::kOutOfRange, "RoiAlign", "region is too large; got {} samples a bin, expected at most {}",
         samples, kMaxSamples);
  return {start, bin, std::max<int64_t>(0, int64_t(std::max(samples, 0.0)))};
}

// Computes one bin of every channel. `sums` has one entry for each channel.
template <class T>
void PoolBin(const T* image, const Shape& size, const RoiAxis& y, const RoiAxis& x, int64_t py, int64_t px,
             bool max, double* sums) {
  const int64_t channels = size[1], pixels = size[2] * size[3];
  std::fill_n(sums, channels, 0.0);
  for (int64_t i = 0; i < y.samples * x.samples; ++i) {
    const Corners c = CornersAt(y.At(py, i / x.samples), x.At(px, i % x.samples), size[2], size[3]);
    for (int64_t ch = 0; ch < channels; ++ch) {
      const T* plane = image + ch * pixels;
      double v[4];
      for (int k = 0; k < 4; ++k) v[k] = c.weight[k] == 0 ? 0 : c.weight[k] * double(plane[c.at[k]]);
      if (!max) sums[ch] += v[0] + v[1] + v[2] + v[3];
      // The definition takes the largest of the weighted corners, not the largest interpolated sample.
      else if (const double most = std::max({v[0], v[1], v[2], v[3]}); i == 0 || most > sums[ch])
        sums[ch] = most;
    }
  }
  if (!max)
    for (int64_t ch = 0; ch < channels; ++ch) sums[ch] /= double(std::max<int64_t>(1, y.samples * x.samples));
}

template <class T>
void AlignRegion(RefArgs& args, int64_t region, const T* image, T* to, double* sums) {
  const Shape &in = args.in[0].shape, &out = args.out[0].shape;
  const T* corners = args.in[1].as<T>() + region * 4;
  const RoiAxis x = AxisOf(args.attributes, double(corners[0]), double(corners[2]), out[3]);
  const RoiAxis y = AxisOf(args.attributes, double(corners[1]), double(corners[3]), out[2]);
  const bool max = args.attributes.String("mode", "avg") == "max";
  for (int64_t p = 0, bins = out[2] * out[3]; p < bins; ++p) {
    PoolBin(image, in, y, x, p / out[3], p % out[3], max, sums);
    for (int64_t c = 0; c < out[1]; ++c) to[c * bins + p] = FromDouble<T>(sums[c]);
  }
}

}  // namespace

void RunGridSample(RefArgs& args) {
  const ConstView &in = args.in[0], &grid = args.in[1];
  const View& out = args.out[0];
  if (out.elements() == 0) return;
  const Grid g = GridOf(args.attributes);
  const int dims = in.shape.rank() - 2;
  const Shape size =
      dims == 3 ? Shape{in.shape[2], in.shape[3], in.shape[4]} : Shape{1, in.shape[2], in.shape[3]};
  const int64_t channels = in.shape[1], pixels = size.Elements(),
                points = out.shape.Elements(2, out.shape.rank());
  VisitNumeric(in.type, [&]<class T>() {
    for (int64_t i = 0; i < out.shape[0] * points; ++i) {
      std::array<Taps, 3> taps;
      // The grid holds the coordinate of the last dimension first.
      for (int d = 0; d < dims; ++d)
        taps[size_t(2 - d)] =
            TapsAt(g, CoordinateAt(grid, i * dims + d, size[2 - d], g.align_corners), size[2 - d]);
      const int64_t n = i / points, point = i % points;
      for (int64_t c = n * channels; c < (n + 1) * channels; ++c)
        out.as<T>()[c * points + point] = FromDouble<T>(SamplePlane(in.as<T>() + c * pixels, size, taps));
    }
  });
}

void RunRoiAlign(RefArgs& args) {
  const ConstView& in = args.in[0];
  const View& out = args.out[0];
  const IndexReader batch(args.in[2]);
  if (out.elements() == 0) return;
  double* sums = args.scratch.Get<double>(size_t(out.shape[1]));
  VisitFloat(in.type, [&]<class T>() {
    for (int64_t r = 0; r < out.shape[0]; ++r) {
      const int64_t image = batch[r];
      if (image < 0 || image >= in.shape[0])
        Fail(Code::kOutOfRange, "RoiAlign", "batch index is out of range; got {}, expected 0 to {}", image,
             in.shape[0] - 1);
      AlignRegion<T>(args, r, in.as<T>() + image * in.shape.Elements(1, 4),
                     out.as<T>() + r * out.shape.Elements(1, 4), sums);
    }
  });
}

}  // namespace mete
