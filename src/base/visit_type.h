// From a DType to a C++ type: VisitX(type, [&]<class T>() { ... }) calls the lambda with the type's T.
// Each visitor names the set it covers; others throw UNIMPLEMENTED. Pick the smallest set: every member
// is compiled.
#pragma once

#include <cstdint>
#include <utility>

#include "base/error.h"
#include "base/half.h"
#include "mete/tensor.h"

namespace mete {

[[noreturn]] inline void FailType(DType type) {
  Fail(Code::kUnimplemented, "kernel", "element type {} is not supported here", Name(type));
}

template <class F>
decltype(auto) VisitFloat(DType type, F&& f) {
  switch (type) {
    case DType::kF32: return f.template operator()<float>();
    case DType::kF64: return f.template operator()<double>();
    case DType::kF16: return f.template operator()<F16>();
    case DType::kBF16: return f.template operator()<BF16>();
    default: FailType(type);
  }
}

template <class F>
decltype(auto) VisitInt(DType type, F&& f) {
  switch (type) {
    case DType::kI8: return f.template operator()<int8_t>();
    case DType::kU8: return f.template operator()<uint8_t>();
    case DType::kI16: return f.template operator()<int16_t>();
    case DType::kU16: return f.template operator()<uint16_t>();
    case DType::kI32: return f.template operator()<int32_t>();
    case DType::kU32: return f.template operator()<uint32_t>();
    case DType::kI64: return f.template operator()<int64_t>();
    case DType::kU64: return f.template operator()<uint64_t>();
    default: FailType(type);
  }
}

inline bool IsFloat(DType type) {
  return type == DType::kF32 || type == DType::kF64 || type == DType::kF16 || type == DType::kBF16;
}
inline bool IsInt(DType type) { return type >= DType::kI8 && type <= DType::kU64; }

// Floats and integers, not bool.
template <class F>
decltype(auto) VisitNumeric(DType type, F&& f) {
  if (IsFloat(type)) return VisitFloat(type, std::forward<F>(f));
  return VisitInt(type, std::forward<F>(f));
}

// Everything, bool as bool.
template <class F>
decltype(auto) VisitAny(DType type, F&& f) {
  if (type == DType::kBool) return f.template operator()<bool>();
  return VisitNumeric(type, std::forward<F>(f));
}

// For kernels that only move elements: an unsigned integer of the element's size.
template <class F>
decltype(auto) VisitSize(DType type, F&& f) {
  switch (SizeOf(type)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    case 8: return f.template operator()<uint64_t>();
    default: FailType(type);
  }
}

}  // namespace mete
