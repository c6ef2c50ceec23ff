#include "kernels/fast/lrn/lrn.h"

#include <cstring>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/lrn/lrn.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Returns s^-beta. The exponent of AlexNet and GoogLeNet, 0.75, only needs square roots.
HWY_INLINE V32 NegativePower(V32 s, float beta) {
  if (beta == 0.75f) {
    const F32 d;
    if (hn::AllTrue(d, hn::And(hn::Gt(s, Num(1e-30f)), hn::Lt(s, Num(1e30f))))) {
      const V32 root = ReciprocalSqrt(s);                         // s^-1/2
      return hn::Mul(root, hn::Mul(root, ReciprocalSqrt(root)));  // s^-1/2 * s^-1/4
    }
    const V32 root = hn::Sqrt(s);
    return hn::Div(Num(1), hn::Mul(root, hn::Sqrt(root)));
  }
  return Exp(hn::Mul(Num(-beta), Log(s)));
}

void LrnPixels(const LrnShape& shape, const float* input, Range pixels, float* output) {
  const F32 d;
  const size_t channels = static_cast<size_t>(shape.channels), size = static_cast<size_t>(shape.size);
  const size_t before = (size - 1) / 2;
  // The zeros before and behind the squares stand for channels beyond the first and the last one. The last
  // vector may read up to one vector more.
  HWY_ALIGN float squares[LrnShape::kMaxChannels + LrnShape::kMaxSize + 2 * kLanes];
  std::memset(squares, 0, (channels + size + 2 * kLanes) * sizeof(float));
  const V32 factor = Num(shape.alpha / static_cast<float>(shape.size)), bias = Num(shape.bias);
  for (int64_t p = pixels.begin; p < pixels.end; ++p) {
    const float* x = input + p * shape.channels;
    float* y = output + p * shape.channels;
    MapRow(x, channels, squares + before, [](V32 v) HWY_ATTR { return hn::Mul(v, v); });
    for (size_t c = 0; c < channels; c += kLanes) {
      V32 sum = hn::LoadU(d, squares + c);
      for (size_t j = 1; j < size; ++j) sum = hn::Add(sum, hn::LoadU(d, squares + c + j));
      const V32 scale = NegativePower(hn::MulAdd(factor, sum, bias), shape.beta);
      StoreN(hn::Mul(LoadN(d, x + c, channels - c), scale), d, y + c, channels - c);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(LrnPixels);

void RunLrn(const LrnShape& shape, const float* input, Range pixels, float* output) {
  HWY_DYNAMIC_DISPATCH(LrnPixels)(shape, input, pixels, output);
}

}  // namespace mete
#endif  // HWY_ONCE
