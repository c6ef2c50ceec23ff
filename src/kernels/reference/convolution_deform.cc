#include <cmath>

#include "kernels/reference/convolution.h"
#include "kernels/reference/number.h"

namespace mete {
namespace {

// Returns the bilinearly interpolated value of the plane at a fractional position, and 0 outside the plane.
template <class T>
double Bilinear(const T* plane, int64_t height, int64_t width, double h, double w) {
  // The negated condition also catches a NaN.
  if (!(h > -1 && w > -1 && h < double(height) && w < double(width))) return 0;
  const int64_t top = int64_t(std::floor(h)), left = int64_t(std::floor(w));
  const double fh = h - double(top), fw = w - double(left);
  auto at = [&](int64_t i, int64_t j) {
    return i < 0 || j < 0 || i >= height || j >= width ? 0.0 : double(plane[i * width + j]);
  };
  return (1 - fh) * ((1 - fw) * at(top, left) + fw * at(top, left + 1)) +
         fh * ((1 - fw) * at(top + 1, left) + fw * at(top + 1, left + 1));
}

template <class T>
struct Deform {
  ImageDims x, y;
  Window window;
  int64_t group, offset_group;
  const T *in, *weights, *offsets, *bias, *mask;

  explicit Deform(const RefArgs& args)
      : x(ImageDimsOf(args.in[0].shape)),
        y(ImageDimsOf(args.out[0].shape)),
        group(args.attributes.Int("group", 1)),
        offset_group(args.attributes.Int("offset_group", 1)),
        in(args.in[0].as<T>()),
        weights(args.in[1].as<T>()),
        offsets(args.in[2].as<T>()),
        bias(args.has(3) ? args.in[3].as<T>() : nullptr),
        mask(args.has(4) ? args.in[4].as<T>() : nullptr) {
    ResolveWindow(args.attributes, x, args.in[1].shape.dims().subspan(2), WindowKind::kConvolution, window);
  }

  // Returns the input value of one tap. Offsets are [n][offset group][tap][h, then w][output], and masks are
  // [n][offset group][tap][output].
  double Tap(int64_t n, int64_t channel, int64_t i, int64_t j, int64_t o_h, int64_t o_w) const {
    const int64_t taps = window[1].kernel * window[2].kernel, places = y.plane(),
                  place = o_h * y.size[2] + o_w;
    const int64_t tap =
        (n * offset_group + channel / (x.channels / offset_group)) * taps + i * window[2].kernel + j;
    const double h = double(window[1].Input(o_h, i)) + double(offsets[2 * tap * places + place]);
    const double w = double(window[2].Input(o_w, j)) + double(offsets[(2 * tap + 1) * places + place]);
    const double value =
        Bilinear(in + n * x.batch_stride + channel * x.channel_stride, x.size[1], x.size[2], h, w);
    return mask ? value * double(mask[tap * places + place]) : value;
  }

  double Output(int64_t n, int64_t m, int64_t o_h, int64_t o_w) const {
    const int64_t per_group = x.channels / group, first = m / (y.channels / group) * per_group;
    double sum = bias ? double(bias[m]) : 0.0;
    const T* weight = weights + m * per_group * window[1].kernel * window[2].kernel;
    for (int64_t c = first; c < first + per_group; ++c)
      for (int64_t i = 0; i < window[1].kernel; ++i)
        for (int64_t j = 0; j < window[2].kernel; ++j) sum += double(*weight++) * Tap(n, c, i, j, o_h, o_w);
    return sum;
  }

  void Run(T* out) const {
    for (int64_t n = 0; n < y.batch; ++n)
      for (int64_t m = 0; m < y.channels; ++m)
        for (int64_t h = 0; h < y.size[1]; ++h)
          for (int64_t w = 0; w < y.size[2]; ++w) *out++ = FromDouble<T>(Output(n, m, h, w));
  }
};

}  // namespace

void DeformConvReference(RefArgs& args) {
  if (args.out[0].elements() == 0) return;
  VisitFloat(args.in[0].type, [&]<class T>() { Deform<T>(args).Run(args.out[0].as<T>()); });
}

}  // namespace mete
