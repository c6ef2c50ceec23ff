// Kernels of element-wise operators between tensors of bytes (graph/fused.h, 9). Sums and products are
// rounded to f32 in the order of ONNX Runtime's kernels, so that ties are rounded in the same direction.
#include <cmath>

#include "base/fused.h"
#include "kernels/reference/iterate.h"
#include "kernels/reference/quantized.h"

namespace mete {
namespace {

// The scale and the zero point of a tensor of bytes, inputs i and i + 1.
struct Scale {
  Scale(const RefArgs& args, size_t i)
      : scale(*args.in[i].as<float>()),
        zero(args.in[i + 1].type == DType::kI8 ? float(*args.in[i + 1].as<int8_t>())
                                               : float(*args.in[i + 1].as<uint8_t>())) {}
  float scale, zero;
};

// Calls f(a, b) for the pairs of bytes that are broadcast to the output, as floats. f returns the output's
// level before it is rounded.
template <class F>
void ForEachPair(RefArgs& args, F&& f) {
  const Shape& shape = args.out[0].shape;
  const std::array<Steps, 2> steps{BroadcastSteps(args.in[0].shape, shape),
                                   BroadcastSteps(args.in[3].shape, shape)};
  const double *a = Doubles(args, args.in[0]), *b = Doubles(args, args.in[3]);
  const Ints& levels = args.attributes.IntList(kLevels);
  VisitQuantized(args.out[0].type, [&]<class T>() {
    T* y = args.out[0].as<T>();
    ForEach(shape, steps, [&](const auto& at) {
      *y++ = Clamped(Quantized<T>(f(float(a[at[0]]), float(b[at[1]])), 0), levels);
    });
  });
}

}  // namespace

void ByteTableReference(RefArgs& args) {
  const auto* x = static_cast<const uint8_t*>(args.in[0].data);
  const auto* table = static_cast<const uint8_t*>(args.in[1].data);
  auto* y = static_cast<uint8_t*>(args.out[0].data);
  for (int64_t i = 0, n = args.out[0].elements(); i < n; ++i) y[i] = table[x[i]];
}

void QLinearAddReference(RefArgs& args) {
  const Scale a(args, 1), b(args, 4), y(args, 6);
  const float a_steps = a.scale / y.scale, b_steps = b.scale / y.scale;
  const float start = y.zero - std::fma(a_steps, a.zero, b_steps * b.zero);
  ForEachPair(args, [&](float p, float q) { return std::fma(a_steps, p, std::fma(b_steps, q, start)); });
}

void QLinearMulReference(RefArgs& args) {
  const Scale a(args, 1), b(args, 4), y(args, 6);
  const float steps = a.scale * b.scale / y.scale;
  ForEachPair(args, [&](float p, float q) {
    const float product = (p - a.zero) * (q - b.zero) * steps;
    return product + y.zero;
  });
}

}  // namespace mete
