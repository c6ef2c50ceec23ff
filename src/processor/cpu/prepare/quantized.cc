// Quantized convolutions on the f32 kernels, and the conversions between bytes and floats.
#include <type_traits>

#include "processor/cpu/prepare/prepare.h"
#include "processor/cpu/prepare/float_conv.h"

namespace mete {
namespace {

// This value is a guess: it costs more to hand out a smaller piece of work than to compute it.
constexpr int64_t kLeastElements = 16 * 1024;

// Rounds half to even for |x| < 2^22: floats of magnitude 2^23 have no fraction.
inline float RoundHalfEven(float x) {
  constexpr float kMagic = 12582912.f;  // 1.5 * 2^23
  return (x + kMagic) - kMagic;
}

// Returns the byte that is `steps` from the zero point, saturated and rounded; a NaN gives the least value
// (kernels/reference/quantized.h).
template <class T>
inline T ToByte(float steps, float least, float most, float zero) {
  const float v = steps >= least ? steps : least;
  return T(int32_t(RoundHalfEven(std::min(v, most)) + zero));
}

template <class F>
void VisitByte(DType type, F&& f) {
  if (type == DType::kI8) f(int8_t{});
  else f(uint8_t{});
}

class QuantizedConv : public PreparedNode {
 public:
  QuantizedConv(const QuantizedConvolution& of, const std::vector<float>& weights, Packer& packer)
      : of_(of), pool_(packer.pool()), conv_(of.shape, weights.data(), ConvWay{}, packer) {
    const ConvShape& s = of.shape;
    input_ = Tensor(DType::kF32, Shape{s.batch, s.in_height * s.in_width, s.in_channels});
    sums_ = Tensor(DType::kF32, Shape{s.batch, s.out_height * s.out_width, s.out_channels});
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    Widen(in[0]);
    Epilogue epilogue;
    epilogue.bias = of_.bias.data();
    conv_.Run(input_.as<float>(), epilogue, sums_.mutable_view().as<float>());
    Requantize(out[0]);
  }

  std::string kernel() const override { return "quantized_" + conv_.kernel(); }
  std::string reason() const override { return "its sums of integers are exact in f32"; }
  int64_t packed_bytes() const override { return conv_.packed_bytes(); }

 private:
  // Divides the pixels of every image into pieces for as many threads as are worth it, and calls f(image,
  // pixels).
  template <class F>
  void ForPixels(const Shape& nhwc, F&& f) {
    const int64_t pixels = nhwc[1],
                  blocks = std::min(pixels, BlocksOf(nhwc.Elements() / nhwc[0], kLeastElements, threads_));
    pool_.For(nhwc[0] * blocks, [&](int, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        f(b / blocks, Range{pixels * (b % blocks) / blocks, pixels * (b % blocks + 1) / blocks});
    });
  }

  // Converts from NCHW to x - zero point in NHWC.
  void Widen(const ConstView& x) {
    const int64_t pixels = input_.shape()[1], channels = input_.shape()[2];
    float* to = input_.mutable_view().as<float>();
    VisitByte(x.type, [&]<class T>(T) {
      const T* from = x.as<T>();
      ForPixels(input_.shape(), [&](int64_t image, Range part) {
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t p = part.begin; p < part.end; ++p)
            to[(image * pixels + p) * channels + c] =
                float(from[(image * channels + c) * pixels + p]) - of_.x.zero;
      });
    });
  }

  // Converts the sums to bytes in NCHW.
  void Requantize(const View& y) {
    const int64_t pixels = sums_.shape()[1], channels = sums_.shape()[2];
    const float* sums = sums_.as<float>();
    const float least = of_.y.least(), most = of_.y.most(), zero = of_.y.zero;
    VisitByte(y.type, [&]<class T>(T) {
      T* to = y.as<T>();
      ForPixels(sums_.shape(), [&](int64_t image, Range part) {
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t p = part.begin; p < part.end; ++p) {
            const float scaled = sums[(image * pixels + p) * channels + c] * of_.scale[size_t(c)];
            to[(image * channels + c) * pixels + p] = ToByte<T>(scaled, least, most, zero);
          }
      });
    });
  }

  const QuantizedConvolution of_;
  ThreadPool& pool_;
  const int threads_ = pool_.step_threads();
  FloatConv conv_;
  Tensor input_, sums_;
};

// Converts bytes to floats or floats to bytes, with one scale and one zero point.
class ConvertStep : public PreparedNode {
 public:
  ConvertStep(const Conversion& of, ThreadPool& pool)
      : of_(of), blocks_(BlocksOf(of.elements, kLeastElements, pool.step_threads())), pool_(pool) {}

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    VisitByte(of_.level.type, [&]<class T>(T) {
      pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
        const Range part{of_.elements * begin / blocks_, of_.elements * end / blocks_};
        if (of_.to_bytes) ToBytes(in[0].as<float>(), part, out[0].as<T>());
        else ToFloats(in[0].as<T>(), part, out[0].as<float>());
      });
    });
  }

  std::string kernel() const override { return of_.kernel(); }

 private:
  // The function divides instead of multiplying by 1 / scale: a tie must round as in other engines.
  template <class T>
  void ToBytes(const float* x, Range part, T* y) const {
    const float least = of_.level.least(), most = of_.level.most(), zero = of_.level.zero, scale = of_.scale;
    for (int64_t i = part.begin; i < part.end; ++i) y[i] = ToByte<T>(x[i] / scale, least, most, zero);
  }

  template <class T>
  void ToFloats(const T* x, Range part, float* y) const {
    const float zero = of_.level.zero, scale = of_.scale;
    for (int64_t i = part.begin; i < part.end; ++i) y[i] = (float(x[i]) - zero) * scale;
  }

  const Conversion of_;
  const int64_t blocks_;
  ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const Conversion& conversion, const Preparation& of) {
  return std::make_unique<ConvertStep>(conversion, of.pool());
}

std::unique_ptr<PreparedNode> Prepare(const QuantizedConvolution& conv, const Preparation& of) {
  return std::make_unique<QuantizedConv>(conv, QuantizedWeights(of.graph, of.node), of.packer);
}

}  // namespace mete
