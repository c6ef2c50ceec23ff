#include "kernels/reference/quantized.h"

#include "kernels/reference/convolution.h"
#include "kernels/reference/iterate.h"

namespace mete {
namespace {

// Finds the scale of an element. There is one scale for all elements, one for each index along an axis, or
// one for each block of indices along the axis.
class ScaleIndex {
 public:
  ScaleIndex(const RefArgs& args, const Shape& x, const Shape& scale) {
    if (scale.Elements() == 1) return;
    const AxisSplit split(x, WrapAxis(args.attributes.Int("axis", 1), x.rank()));
    inner_ = split.inner;
    length_ = split.length;
    block_ = args.attributes.Int("block_size", 0);
    blocks_ = block_ > 0 ? (length_ + block_ - 1) / block_ : 0;
    single_ = false;
  }

  int64_t operator()(int64_t element) const {
    if (single_) return 0;
    const int64_t along = element / inner_ % length_;
    if (block_ == 0) return along;
    return (element / (inner_ * length_) * blocks_ + along / block_) * inner_ + element % inner_;
  }

 private:
  bool single_ = true;
  int64_t inner_ = 1, length_ = 1, block_ = 0, blocks_ = 0;
};

const double* ZeroPoints(RefArgs& args, size_t input) {
  return args.has(input) ? Doubles(args, args.in[input]) : nullptr;
}

// Quantizes. Floats are divided in f32 as in numpy and other engines, so that ties are rounded in the same
// direction.
void QuantizeLinear(RefArgs& args) {
  const ScaleIndex index(args, args.in[0].shape, args.in[1].shape);
  const double *x = Doubles(args, args.in[0]), *scales = Doubles(args, args.in[1]),
               *zeros = ZeroPoints(args, 2);
  const bool in_float = IsFloat(args.in[0].type);
  const auto scaled = [&](int64_t i, int64_t s) {
    return in_float ? double(float(x[i]) / float(scales[s])) : x[i] / scales[s];
  };
  const View& out = args.out[0];
  const int64_t n = out.elements();
  if (IsNarrow(out.type)) {
    const NarrowRounding rounding{.saturate = args.attributes.Int("saturate", 1) != 0};
    const bool to_float = IsNarrowFloat(out.type);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t s = index(i);
      const double value = scaled(i, s), zero = zeros ? zeros[s] : 0;
      out.as<uint8_t>()[i] = to_float ? EncodeFloat(out.type, value + zero, rounding)
                                      : NearestLevel(out.type, std::nearbyint(value) + zero);
    }
    return;
  }
  VisitQuantized(out.type, [&]<class T>() {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t s = index(i);
      out.as<T>()[i] = Quantized<T>(scaled(i, s), zeros ? zeros[s] : 0);
    }
  });
}

void DequantizeLinear(RefArgs& args) {
  const ScaleIndex index(args, args.in[0].shape, args.in[1].shape);
  const double *x = Doubles(args, args.in[0]), *scales = Doubles(args, args.in[1]),
               *zeros = ZeroPoints(args, 2);
  VisitFloat(args.out[0].type, [&]<class T>() {
    T* y = args.out[0].as<T>();
    for (int64_t i = 0, n = args.out[0].elements(); i < n; ++i) {
      const int64_t s = index(i);
      y[i] = FromDouble<T>((x[i] - (zeros ? zeros[s] : 0)) * scales[s]);
    }
  });
}

void DynamicQuantizeLinear(RefArgs& args) {
  const float* x = args.in[0].as<float>();
  const int64_t n = args.in[0].elements();
  float least = 0, most = 0;
  for (int64_t i = 0; i < n; ++i) {
    least = std::min(least, x[i]);
    most = std::max(most, x[i]);
  }
  const float scale = most == least ? 1.f / 255 : (most - least) / 255;
  const uint8_t zero = FromDouble<uint8_t>(std::nearbyint(0.f - least / scale));
  for (int64_t i = 0; i < n; ++i) args.out[0].as<uint8_t>()[i] = Quantized<uint8_t>(x[i] / scale, zero);
  if (args.wants(1)) *args.out[1].as<float>() = scale;
  if (args.wants(2)) *args.out[2].as<uint8_t>() = zero;
}

}  // namespace

std::span<const RefEntry> QuantizedReferences() {
  static constexpr RefEntry kQuantizedEntries[] = {
      {"ConvInteger", ConvIntegerReference},
      {"DequantizeLinear", DequantizeLinear},
      {"DynamicQuantizeLinear", DynamicQuantizeLinear},
      {"MatMulInteger", MatMulIntegerReference},
      {"QLinearConv", QLinearConvReference},
      {"QLinearMatMul", QLinearMatMulReference},
      {"QuantizeLinear", QuantizeLinear},
      {"mete.ByteTable", ByteTableReference},
      {"mete.QLinearAdd", QLinearAddReference},
      {"mete.QLinearAveragePool", QLinearAveragePoolReference},
      {"mete.QLinearGlobalAveragePool", QLinearGlobalAveragePoolReference},
      {"mete.QLinearMul", QLinearMulReference},
      {"mete.ScaledConvInteger", ScaledConvIntegerReference},
      {"mete.ScaledMatMulInteger", ScaledMatMulIntegerReference},
  };
  return kQuantizedEntries;
}

}  // namespace mete
