#include "kernels/reference/convolution.h"

#include "base/visit_type.h"
#include "kernels/reference/epilogue.h"

namespace mete {
namespace {

// Sums are kept in double for one output plane at a time, so that f32 results are good to the last bit or so.
struct ConvCall {
  ImageDims x, y;
  Window window;
  int64_t group, x_group, y_group;  // channels of a group on either side
  int64_t taps;                     // of one plane of weights

  // Weights are [y channels][x_group][taps], or [x channels][y_group][taps] where transposed.
  ConvCall(const RefArgs& args, bool transposed) {
    const bool nhwc = IsNhwc(args.attributes);
    x = ImageDimsOf(args.in[0].shape, nhwc);
    y = ImageDimsOf(args.out[0].shape, nhwc);
    group = args.attributes.Int("group", 1);
    x_group = x.channels / group;
    y_group = y.channels / group;
    const auto kernel = args.in[1].shape.dims().subspan(2);
    if (transposed) ResolveTransposedWindow(args.attributes, x, kernel, window);
    else ResolveWindow(args.attributes, x, kernel, false, window);
    taps = window[0].kernel * window[1].kernel * window[2].kernel;
  }
};

// For every tap of one plane of weights and every output row that it touches: body(weight, tap's x index, ranges).
template <class F>
void ForEachTapRow(const Window& w, F&& body) {
  int64_t tap = 0;
  for (int64_t kd = 0; kd < w[0].kernel; ++kd)
    for (int64_t kh = 0; kh < w[1].kernel; ++kh)
      for (int64_t kw = 0; kw < w[2].kernel; ++kw, ++tap) {
        const IndexRange od = w[0].OutputsOfTap(kd), oh = w[1].OutputsOfTap(kh), ow = w[2].OutputsOfTap(kw);
        for (int64_t d = od.begin; d < od.end; ++d)
          for (int64_t h = oh.begin; h < oh.end; ++h) body(tap, d, h, w[0].Input(d, kd), w[1].Input(h, kh), kw, ow);
      }
}

template <class T>
void AddPlane(const ConvCall& c, const T* x, const T* weights, double* sums) {
  const int64_t step = c.window[2].stride * c.x.stride[2];
  ForEachTapRow(c.window, [&](int64_t tap, int64_t d, int64_t h, int64_t xd, int64_t xh, int64_t kw, IndexRange ow) {
    if (ow.size() == 0) return;
    const double weight = weights[tap];
    double* row = sums + (d * c.y.size[1] + h) * c.y.size[2];
    const T* from = x + xd * c.x.stride[0] + xh * c.x.stride[1] + c.window[2].Input(ow.begin, kw) * c.x.stride[2];
    for (int64_t o = ow.begin; o < ow.end; ++o, from += step) row[o] += weight * double(*from);
  });
}

// The same window with the roles changed: x is indexed by the window's outputs, and what it makes by its inputs.
template <class T>
void AddPlaneTransposed(const ConvCall& c, const T* x, const T* weights, double* sums) {
  ForEachTapRow(c.window, [&](int64_t tap, int64_t d, int64_t h, int64_t yd, int64_t yh, int64_t kw, IndexRange ow) {
    const double weight = weights[tap];
    double* row = sums + (yd * c.y.size[1] + yh) * c.y.size[2];
    const T* from = x + d * c.x.stride[0] + h * c.x.stride[1];
    for (int64_t o = ow.begin; o < ow.end; ++o) row[c.window[2].Input(o, kw)] += weight * double(from[o * c.x.stride[2]]);
  });
}

template <class T>
void StorePlane(const ImageDims& y, const double* sums, int64_t start, const Epilogue<T>& epilogue, T* out) {
  for (int64_t d = 0; d < y.size[0]; ++d)
    for (int64_t h = 0; h < y.size[1]; ++h)
      for (int64_t w = 0; w < y.size[2]; ++w) {
        const int64_t at = start + d * y.stride[0] + h * y.stride[1] + w * y.stride[2];
        out[at] = epilogue.Apply(*sums++, at);
      }
}

template <class T>
void Convolve(RefArgs& args, bool transposed) {
  if (args.out[0].elements() == 0) return;
  const ConvCall c(args, transposed);
  const Epilogue<T> epilogue(args);
  const T *x = args.in[0].as<T>(), *weights = args.in[1].as<T>(), *bias = args.has(2) ? args.in[2].as<T>() : nullptr;
  double* sums = args.scratch.Get<double>(size_t(c.y.plane()));
  for (int64_t n = 0; n < c.y.batch; ++n)
    for (int64_t m = 0; m < c.y.channels; ++m) {
      const int64_t g = m / c.y_group;
      std::fill_n(sums, c.y.plane(), bias ? double(bias[m]) : 0.0);
      for (int64_t i = 0; i < c.x_group; ++i) {
        const int64_t channel = g * c.x_group + i;
        const T* plane = x + n * c.x.batch_stride + channel * c.x.channel_stride;
        if (transposed) AddPlaneTransposed(c, plane, weights + (channel * c.y_group + m % c.y_group) * c.taps, sums);
        else AddPlane(c, plane, weights + (m * c.x_group + i) * c.taps, sums);
      }
      StorePlane(c.y, sums, n * c.y.batch_stride + m * c.y.channel_stride, epilogue, args.out[0].as<T>());
    }
}

void Conv(RefArgs& args) {
  VisitFloat(args.in[0].type, [&]<class T>() { Convolve<T>(args, false); });
}

void ConvTranspose(RefArgs& args) {
  VisitFloat(args.in[0].type, [&]<class T>() { Convolve<T>(args, true); });
}

}  // namespace

std::span<const RefEntry> ConvolutionReferences() {
  static constexpr RefEntry kEntries[] = {
      {"AveragePool", AveragePoolReference},
      {"Conv", Conv},
      {"ConvTranspose", ConvTranspose},
      {"DeformConv", DeformConvReference},
      {"GlobalAveragePool", GlobalAveragePoolReference},
      {"GlobalLpPool", GlobalLpPoolReference},
      {"GlobalMaxPool", GlobalMaxPoolReference},
      {"LpPool", LpPoolReference},
      {"MaxPool", MaxPoolReference},
  };
  return kEntries;
}

}  // namespace mete
