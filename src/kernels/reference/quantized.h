// The kernels of the quantized family that are not in the same file as their table, and the functions that
// the kernels of this family share.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/number.h"
#include "kernels/reference/reference.h"

namespace mete {

void QLinearConvReference(RefArgs& args);
void QLinearMatMulReference(RefArgs& args);
void ConvIntegerReference(RefArgs& args);
void MatMulIntegerReference(RefArgs& args);
void ScaledConvIntegerReference(RefArgs& args);
void ScaledMatMulIntegerReference(RefArgs& args);
void ByteTableReference(RefArgs& args);
void QLinearAddReference(RefArgs& args);
void QLinearMulReference(RefArgs& args);

// Returns all elements as double, in scratch memory.
inline double* Doubles(RefArgs& args, const ConstView& v) {
  double* values = args.scratch.Get<double>(size_t(v.elements()));
  ReadDoubles(v, values);
  return values;
}

// Rounds half to even, as ONNX requires, adds the zero point and saturates. ONNX does not define the result
// for a NaN. ONNX Runtime's CPU kernels return the lowest level, because they first take the maximum of the
// value and the lowest level. This function and
// processor/cpu/prepare/quantized.cc return the lowest level too.
template <class T>
T Quantized(double scaled, double zero_point) {
  if (std::isnan(scaled)) return std::numeric_limits<T>::min();
  return FromDouble<T>(std::nearbyint(scaled) + zero_point);
}

// Returns the level within `levels` (kLevels), least and most, if a node has these.
template <class T>
T Clamped(T level, const Ints& levels) {
  return levels.empty() ? level : T(std::clamp(int64_t(level), levels[0], levels[1]));
}

// Calls f with the type as template argument; `type` is one of the four types of quantized values.
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
