// From a DType to a C++ type: VisitX(type, [&]<class T>() { ... }) calls the lambda with the C++ type T of
// `type`. The name of a visitor states the set of types that it covers; it throws UNIMPLEMENTED for others.
// Use the smallest set that fits, because the lambda is compiled for every type of the set.
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

// Covers floats and integers, not bool.
template <class F>
decltype(auto) VisitNumeric(DType type, F&& f) {
  if (IsFloat(type)) return VisitFloat(type, std::forward<F>(f));
  return VisitInt(type, std::forward<F>(f));
}

// Covers all types; bool is visited as bool.
template <class F>
decltype(auto) VisitAny(DType type, F&& f) {
  if (type == DType::kBool) return f.template operator()<bool>();
  return VisitNumeric(type, std::forward<F>(f));
}

// Calls the lambda with an unsigned integer type of the element's size, for kernels that only move elements.
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
