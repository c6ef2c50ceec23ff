// The kernels of the quantized family that live in files of their own, and what they share.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/reference/number.h"
#include "kernels/reference/reference.h"

namespace mete {

void QLinearConvReference(RefArgs& args);
void QLinearMatMulReference(RefArgs& args);
void ConvIntegerReference(RefArgs& args);
void MatMulIntegerReference(RefArgs& args);

// All elements as double, in scratch memory.
inline double* Doubles(RefArgs& args, const ConstView& v) {
  double* values = args.scratch.Get<double>(size_t(v.elements()));
  ReadDoubles(v, values);
  return values;
}

// Rounds half to even, as ONNX asks, and saturates. ONNX does not say what a NaN becomes; ONNX Runtime's CPU
// kernels, which take the greater of it and the least level first, give the least level, and so do we here
// and in processor/cpu/quantized.cc.
template <class T>
T Quantized(double scaled, double zero_point) {
  if (std::isnan(scaled)) return std::numeric_limits<T>::min();
  return FromDouble<T>(std::nearbyint(scaled) + zero_point);
}

// For the four types that values are quantized to.
template <class F>
void VisitQuantized(DType type, F&& f) {
  switch (type) {
    case DType::kI8: return f.template operator()<int8_t>();
    case DType::kU8: return f.template operator()<uint8_t>();
    case DType::kI16: return f.template operator()<int16_t>();
    case DType::kU16: return f.template operator()<uint16_t>();
    default: FailType(type);
  }
}

}  // namespace mete
