#include <cmath>
#include <limits>

#include "kernels/reference/convolution.h"
#include "kernels/reference/number.h"
#include "kernels/reference/quantized.h"

namespace mete {
namespace {

struct Pooling {
  ImageDims x, y;
  Window window;
  bool empty;

  explicit Pooling(const RefArgs& args) : empty(args.out[0].elements() == 0) {
    const TensorOrder order = OrderOf(args.attributes);
    x = ImageDimsOf(args.in[0].shape, order);
    y = ImageDimsOf(args.out[0].shape, order);
    ResolveWindow(args.attributes, x, args.attributes.IntList("kernel_shape"), WindowKind::kPool, window);
  }
};

// One output of a pool: its element of y, the plane that it reads, and its position in the plane of outputs.
struct Place {
  int64_t plane;    // n * channels + c
  int64_t x_start;  // first element of the plane of x
  int64_t y;        // element of y
  std::array<int64_t, kSpatialDims> o;
};

template <class F>
void ForEachPlace(const Pooling& p, F&& f) {
  if (p.empty) return;
  for (int64_t n = 0; n < p.y.batch; ++n)
    for (int64_t c = 0; c < p.y.channels; ++c)
      for (int64_t d = 0; d < p.y.size[0]; ++d)
        for (int64_t h = 0; h < p.y.size[1]; ++h)
          for (int64_t w = 0; w < p.y.size[2]; ++w)
            f(Place{n * p.y.channels + c,
                    n * p.x.batch_stride + c * p.x.channel_stride,
                    n * p.y.batch_stride + c * p.y.channel_stride + d * p.y.stride[0] + h * p.y.stride[1] +
                        w * p.y.stride[2],
                    {d, h, w}});
}

// Calls f(value, {d, h, w}) for every element of x in the window; padding is skipped.
template <class T, class F>
void ForEachElement(const Pooling& p, const Place& place, const T* x, F&& f) {
  const WindowAxis &a = p.window[0], &b = p.window[1], &c = p.window[2];
  const IndexRange ka = a.TapsOfOutput(place.o[0]), kb = b.TapsOfOutput(place.o[1]),
                   kc = c.TapsOfOutput(place.o[2]);
  for (int64_t i = ka.begin; i < ka.end; ++i)
    for (int64_t j = kb.begin; j < kb.end; ++j)
      for (int64_t k = kc.begin; k < kc.end; ++k) {
        const std::array<int64_t, kSpatialDims> at{a.Input(place.o[0], i), b.Input(place.o[1], j),
                                                   c.Input(place.o[2], k)};
        f(x[place.x_start + at[0] * p.x.stride[0] + at[1] * p.x.stride[1] + at[2] * p.x.stride[2]], at);
      }
}

// Returns the index that MaxPool reports. It counts elements of X in NCHW order, or in column-major order, in
// which the first spatial dimension varies fastest within a plane.
int64_t FlatIndex(const Pooling& p, const Place& place, const std::array<int64_t, kSpatialDims>& at,
                  bool column_major) {
  const auto& s = p.x.size;
  const int64_t inside =
      column_major ? at[0] + s[0] * (at[1] + s[1] * at[2]) : (at[0] * s[1] + at[1]) * s[2] + at[2];
  return place.plane * p.x.plane() + inside;
}

template <class T>
T Lowest() {
  if constexpr (std::is_integral_v<T>) return std::numeric_limits<T>::lowest();
  else return T(-std::numeric_limits<float>::infinity());
}

// Returns whether `value` replaces `best` as the maximum. A NaN replaces every number, so that the maximum is
// NaN.
template <class T>
bool Beats(T value, T best) {
  if constexpr (!std::is_integral_v<T>)
    if (std::isnan(float(value))) return !std::isnan(float(best));
  return value > best;
}

template <class T>
void MaxPool(RefArgs& args) {
  const Pooling p(args);
  const bool column_major = args.attributes.Int("storage_order", 0) != 0;
  const T* x = args.in[0].as<T>();
  T* y = args.out[0].as<T>();
  int64_t* indices = args.wants(1) ? args.out[1].as<int64_t>() : nullptr;
  ForEachPlace(p, [&](const Place& place) {
    T best = Lowest<T>();
    std::array<int64_t, kSpatialDims> best_at{};
    bool found = false;
    ForEachElement(p, place, x, [&](T value, const auto& at) {
      if (found && !Beats(value, best)) return;
      best = value;
      best_at = at;
      found = true;
    });
    y[place.y] = best;
    if (indices) indices[place.y] = found ? FlatIndex(p, place, best_at, column_major) : -1;
  });
}

// Returns the number of taps within the padded input, as double, because padding may be much larger than any
// tensor.
double PaddedCount(const Pooling& p, const Place& place) {
  double count = 1;
  for (size_t i = 0; i < kSpatialDims; ++i)
    count *= double(p.window[i].PaddedTapsOfOutput(place.o[i]).size());
  return count;
}

template <class T>
void AveragePool(RefArgs& args) {
  const Pooling p(args);
  const bool with_padding =
      args.attributes.Int("count_include_pad", 0) != 0 || args.attributes.Int("mete_caffe", 0) != 0;
  const T* x = args.in[0].as<T>();
  T* y = args.out[0].as<T>();
  ForEachPlace(p, [&](const Place& place) {
    double sum = 0, count = 0;
    ForEachElement(p, place, x, [&](T value, const auto&) {
      sum += double(value);
      ++count;
    });
    if (with_padding) count = PaddedCount(p, place);
    y[place.y] = FromDouble<T>(count > 0 ? sum / count : 0.0);
  });
}

template <class T>
void LpPool(RefArgs& args) {
  const Pooling p(args);
  const double power = double(args.attributes.Int("p", 2));
  const T* x = args.in[0].as<T>();
  T* y = args.out[0].as<T>();
  ForEachPlace(p, [&](const Place& place) {
    double sum = 0;
    ForEachElement(p, place, x,
                   [&](T value, const auto&) { sum += std::pow(std::fabs(double(value)), power); });
    y[place.y] = FromDouble<T>(std::pow(sum, 1 / power));
  });
}

// Calls f(first element of x, stride, count) for each channel of each sample, in the order of y, whose
// spatial dimensions are all 1.
template <class F>
void ForEachPlane(const RefArgs& args, F&& f) {
  const Shape& shape = args.in[0].shape;
  const bool nhwc = IsNhwc(args.attributes);
  const int64_t batch = shape[0], channels = nhwc ? shape.back() : shape[1];
  const int64_t count = nhwc ? shape.Elements(1, shape.rank() - 1) : shape.Elements(2, shape.rank());
  const int64_t channel_stride = nhwc ? 1 : count, stride = nhwc ? channels : 1;
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t c = 0; c < channels; ++c) f(n * channels * count + c * channel_stride, stride, count);
}

// Stores f(first element, stride, count) of each channel.
template <class T, class F>
void GlobalPool(RefArgs& args, F&& f) {
  const T* x = args.in[0].as<T>();
  T* y = args.out[0].as<T>();
  ForEachPlane(args,
               [&](int64_t start, int64_t stride, int64_t count) { *y++ = f(x + start, stride, count); });
}

template <class T>
T Average(const T* x, int64_t stride, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += double(x[i * stride]);
  return FromDouble<T>(count > 0 ? sum / double(count) : 0.0);
}

template <class T>
T Maximum(const T* x, int64_t stride, int64_t count) {
  T best = count > 0 ? x[0] : Lowest<T>();
  for (int64_t i = 1; i < count; ++i)
    if (Beats(x[i * stride], best)) best = x[i * stride];
  return best;
}

template <class T>
T LpNorm(const T* x, int64_t stride, int64_t count, double power) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += std::pow(std::fabs(double(x[i * stride])), power);
  return FromDouble<T>(std::pow(sum, 1 / power));
}

// The parameters of a pool of bytes: scale and zero point of X and of Y.
struct ByteScales {
  explicit ByteScales(const RefArgs& args)
      : x_scale(*args.in[1].as<float>()), y_scale(*args.in[3].as<float>()) {
    double zeros[2];
    ReadDoubles(args.in[2], &zeros[0]);
    ReadDoubles(args.in[4], &zeros[1]);
    x_zero = float(zeros[0]);
    y_zero = float(zeros[1]);
  }
  float x_scale, y_scale, x_zero, y_zero;
};

// Calls f with the types of X and Y.
template <class F>
void VisitBytes(const RefArgs& args, F&& f) {
  VisitQuantized(args.in[0].type, [&]<class X>() {
    VisitQuantized(args.out[0].type, [&]<class Y>() { f.template operator()<X, Y>(); });
  });
}

}  // namespace

// As ONNX Runtime's kernel, the average is a sum of dequantized values in f32 in the order of the taps, and
// the zero point is added before the rounding.
void QLinearAveragePoolReference(RefArgs& args) {
  const Pooling p(args);
  const ByteScales of(args);
  const bool with_padding = args.attributes.Int("count_include_pad", 0) != 0;
  VisitBytes(args, [&]<class X, class Y>() {
    Y* y = args.out[0].as<Y>();
    ForEachPlace(p, [&](const Place& place) {
      float sum = 0, count = 0;
      ForEachElement(p, place, args.in[0].as<X>(), [&](X value, const auto&) {
        const float number = (float(value) - of.x_zero) * of.x_scale;
        sum += number;
        ++count;
      });
      if (with_padding) count = float(PaddedCount(p, place));
      const float average = count > 0 ? sum / count : 0.f;
      y[place.y] = Quantized<Y>(average / of.y_scale + of.y_zero, 0);
    });
  });
}

// As ONNX Runtime's kernel, the sum is of integers and the rounding is before the addition of the zero point.
void QLinearGlobalAveragePoolReference(RefArgs& args) {
  const ByteScales of(args);
  VisitBytes(args, [&]<class X, class Y>() {
    const X* x = args.in[0].as<X>();
    Y* y = args.out[0].as<Y>();
    ForEachPlane(args, [&](int64_t start, int64_t stride, int64_t count) {
      double sum = 0;
      for (int64_t i = 0; i < count; ++i) sum += double(x[start + i * stride]) - of.x_zero;
      const float steps = of.x_scale / (of.y_scale * float(count));
      *y++ = Quantized<Y>(count > 0 ? float(sum) * steps : 0.f, of.y_zero);
    });
  });
}

void MaxPoolReference(RefArgs& args) {
  const DType type = args.in[0].type;
  if (type == DType::kI8) MaxPool<int8_t>(args);
  else if (type == DType::kU8) MaxPool<uint8_t>(args);
  else VisitFloat(type, [&]<class T>() { MaxPool<T>(args); });
}

void AveragePoolReference(RefArgs& args) {
  VisitFloat(args.in[0].type, [&]<class T>() { AveragePool<T>(args); });
}

void LpPoolReference(RefArgs& args) {
  VisitFloat(args.in[0].type, [&]<class T>() { LpPool<T>(args); });
}

void GlobalAveragePoolReference(RefArgs& args) {
  VisitFloat(args.in[0].type, [&]<class T>() { GlobalPool<T>(args, Average<T>); });
}

void GlobalMaxPoolReference(RefArgs& args) {
  VisitFloat(args.in[0].type, [&]<class T>() { GlobalPool<T>(args, Maximum<T>); });
}

void GlobalLpPoolReference(RefArgs& args) {
  const double power = double(args.attributes.Int("p", 2));
  VisitFloat(args.in[0].type, [&]<class T>() {
    GlobalPool<T>(
        args, [&](const T* x, int64_t stride, int64_t count) { return LpNorm<T>(x, stride, count, power); });
  });
}

}  // namespace mete
