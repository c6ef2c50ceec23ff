// Kernels of convolutions and matrix products of 8-bit integers. The kernels first subtract the zero points,
// so that padding is zero. The sums are in double, which is exact for every sum of 8-bit products that fits
// in memory.
#include "base/fused.h"
#include "kernels/reference/convolution_planes.h"
#include "kernels/reference/iterate.h"
#include "kernels/reference/matmul.h"
#include "kernels/reference/quantized.h"

namespace mete {
namespace {

// Returns the shape of a vector with one element for each row of a matrix as a column, so that it broadcasts.
Shape AsColumn(const Shape& shape) { return shape.rank() == 1 && shape[0] != 1 ? Shape{shape[0], 1} : shape; }
Shape AsIs(const Shape& shape) { return shape; }

const ConstView& InputOrNone(const RefArgs& args, size_t i) {
  static const ConstView kNone;
  return args.has(i) ? args.in[i] : kNone;
}

// Returns v - zero in scratch memory. `zero_shape` is the shape of zero, which broadcasts to v's.
double* Shifted(RefArgs& args, const ConstView& v, const ConstView& zero, const Shape& zero_shape) {
  double* values = Doubles(args, v);
  if (!zero.present()) return values;
  const double* zeros = Doubles(args, zero);
  double* next = values;
  ForEach(v.shape, std::array<Steps, 1>{BroadcastSteps(zero_shape, v.shape)},
          [&](const auto& at) { *next++ -= zeros[at[0]]; });
  return values;
}

// Returns the weights minus their zero point; there is one for all weights, or one for each output channel.
double* ShiftedWeights(RefArgs& args, const ConstView& w, const ConstView& zero) {
  Shape shape = zero.present() ? zero.shape : Shape();
  if (shape.rank() == 1)
    for (int i = 1; i < w.shape.rank(); ++i) shape.push_back(1);
  return Shifted(args, w, zero, shape);
}

int32_t ToI32(double sum) { return int32_t(uint32_t(int64_t(sum))); }

double* MatMulSums(RefArgs& args, const ConstView& a, const ConstView& a_zero, const ConstView& b,
                   const ConstView& b_zero) {
  const double* x = Shifted(args, a, a_zero, a_zero.present() ? AsColumn(a_zero.shape) : Shape());
  const double* w = Shifted(args, b, b_zero, b_zero.present() ? b_zero.shape : Shape());
  const MatMulDims d(a.shape, b.shape);
  double *sums = args.scratch.Get<double>(size_t(args.out[0].elements())), *row = sums;
  d.ForEachMatrix([&](int64_t at_a, int64_t at_b) {
    for (int64_t i = 0; i < d.m; ++i, row += d.n) MatMulRow(d, x + at_a + i * d.k, w + at_b, row);
  });
  return sums;
}

// Calls f(sum, output channel, place in the output) for each sum of a convolution of bytes.
template <class F>
void ConvolveBytes(RefArgs& args, F&& f) {
  if (args.out[0].elements() == 0) return;
  const ConvCall c(args.attributes, args.in[0].shape, args.in[1].shape, args.out[0].shape);
  const double* x = Shifted(args, args.in[0], InputOrNone(args, 2), Shape{});
  const double* w = ShiftedWeights(args, args.in[1], InputOrNone(args, 3));
  Convolve(c, x, w, args.scratch.Get<double>(size_t(c.y.plane())), f);
}

// Makes floats of sums by inputs 4 and 5, a scale and a bias, each with one element or one for each channel.
class SumScale {
 public:
  explicit SumScale(const RefArgs& args)
      : scale_(args.in[4].as<float>()),
        bias_(args.has(5) ? args.in[5].as<float>() : nullptr),
        scales_(args.in[4].elements() > 1),
        biases_(bias_ && args.in[5].elements() > 1) {}

  float operator()(double sum, int64_t channel) const {
    const float product = float(ToI32(sum)) * scale_[scales_ ? channel : 0];
    return bias_ ? product + bias_[biases_ ? channel : 0] : product;
  }

 private:
  const float *scale_, *bias_;
  bool scales_, biases_;
};

}  // namespace

void ConvIntegerReference(RefArgs& args) {
  int32_t* y = args.out[0].as<int32_t>();
  ConvolveBytes(args, [&](double sum, int64_t, int64_t at) { y[at] = ToI32(sum); });
}

void ScaledConvIntegerReference(RefArgs& args) {
  const SumScale scaled(args);
  float* y = args.out[0].as<float>();
  ConvolveBytes(args, [&](double sum, int64_t m, int64_t at) { y[at] = scaled(sum, m); });
}

void QLinearConvReference(RefArgs& args) {
  if (args.out[0].elements() == 0) return;
  ConvCall c(args.attributes, args.in[0].shape, args.in[3].shape, args.out[0].shape);
  const double* x = Shifted(args, args.in[0], args.in[2], Shape{});
  const double* w = ShiftedWeights(args, args.in[3], args.in[5]);
  const float *x_scale = args.in[1].as<float>(), *w_scale = args.in[4].as<float>(),
              *y_scale = args.in[6].as<float>();
  const bool per_channel = args.in[4].elements() > 1;
  const int32_t* bias = args.has(8) ? args.in[8].as<int32_t>() : nullptr;
  const double y_zero = *Doubles(args, args.in[7]);
  const Ints& levels = args.attributes.IntList(kLevels);
  double* sums = args.scratch.Get<double>(size_t(c.y.plane()));
  auto* y = static_cast<uint8_t*>(args.out[0].data);
  if (args.attributes.Int(kIntoChannels, 0) >
      0) {  // a slice of y's channels is written (graph/fused.h, section 7)
    CopyInto(args.in, kByteIntoInput, args.out[0]);
    c.NarrowOutput(args.in[3].shape[0]);
    y += args.attributes.Int(kIntoOffset, 0);
  }
  const uint8_t* table = args.has(kByteTableInput) ? args.in[kByteTableInput].as<uint8_t>() : nullptr;
  VisitQuantized(args.in[7].type, [&]<class T>() {
    Convolve(c, x, w, sums, [&](double sum, int64_t m, int64_t at) {
      const float scale = *x_scale * w_scale[per_channel ? m : 0] / *y_scale;
      // The product is in f32 as in other engines, so that ties are rounded in the same direction.
      const auto level =
          uint8_t(Clamped(Quantized<T>(float(sum + (bias ? bias[m] : 0)) * scale, y_zero), levels));
      y[at] = table ? table[level] : level;
    });
  });
}

void MatMulIntegerReference(RefArgs& args) {
  const double* sums = MatMulSums(args, args.in[0], InputOrNone(args, 2), args.in[1], InputOrNone(args, 3));
  for (int64_t i = 0, n = args.out[0].elements(); i < n; ++i) args.out[0].as<int32_t>()[i] = ToI32(sums[i]);
}

void ScaledMatMulIntegerReference(RefArgs& args) {
  const double* sums = MatMulSums(args, args.in[0], InputOrNone(args, 2), args.in[1], InputOrNone(args, 3));
  const SumScale scaled(args);
  const int64_t columns = args.out[0].shape.rank() ? args.out[0].shape.back() : 1;
  for (int64_t i = 0, n = args.out[0].elements(); i < n; ++i)
    args.out[0].as<float>()[i] = scaled(sums[i], i % columns);
}

void QLinearMatMulReference(RefArgs& args) {
  const double* sums = MatMulSums(args, args.in[0], args.in[2], args.in[3], args.in[5]);
  const double *a_scale = Doubles(args, args.in[1]), *b_scale = Doubles(args, args.in[4]),
               *y_scale = Doubles(args, args.in[6]), *y_zero = Doubles(args, args.in[7]);
  const Shape& shape = args.out[0].shape;
  const Ints& levels = args.attributes.IntList(kLevels);
  auto steps = [&](size_t i, Shape (*as)(const Shape&)) {
    return BroadcastSteps(as(args.in[i].shape), shape);
  };
  const std::array<Steps, 4> walk{steps(1, AsColumn), steps(4, AsIs), steps(6, AsColumn), steps(7, AsColumn)};
  VisitQuantized(args.out[0].type, [&]<class T>() {
    T* y = args.out[0].as<T>();
    ForEach(shape, walk, [&](const auto& at) {
      const float scale = float(a_scale[at[0]]) * float(b_scale[at[1]]) / float(y_scale[at[2]]);
      *y++ = Clamped(Quantized<T>(float(*sums++) * scale, y_zero[at[3]]), levels);
    });
  });
}

}  // namespace mete
