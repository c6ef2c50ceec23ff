// Checks of inputs' types and shapes that inference functions share.
#pragma once

#include <string>

#include "graph/operators.h"

namespace mete {

// A set of element types, one bit each.
using TypeSet = uint32_t;
constexpr TypeSet TypeBit(DType type) { return TypeSet(1) << unsigned(type); }

inline constexpr TypeSet kBoolType = TypeBit(DType::kBool);
inline constexpr TypeSet kFloatTypes =
    TypeBit(DType::kF32) | TypeBit(DType::kF64) | TypeBit(DType::kF16) | TypeBit(DType::kBF16);
inline constexpr TypeSet kSignedIntTypes =
    TypeBit(DType::kI8) | TypeBit(DType::kI16) | TypeBit(DType::kI32) | TypeBit(DType::kI64);
inline constexpr TypeSet kUnsignedIntTypes =
    TypeBit(DType::kU8) | TypeBit(DType::kU16) | TypeBit(DType::kU32) | TypeBit(DType::kU64);
inline constexpr TypeSet kIntTypes = kSignedIntTypes | kUnsignedIntTypes;
inline constexpr TypeSet kIndexTypes = TypeBit(DType::kI32) | TypeBit(DType::kI64);
inline constexpr TypeSet kSignedTypes = kFloatTypes | kSignedIntTypes;
inline constexpr TypeSet kNumericTypes = kFloatTypes | kIntTypes;
inline constexpr TypeSet kAllTypes = kNumericTypes | kBoolType;
// What QuantizeLinear makes of narrow types: all but f8e8m0, which is a type of scales.
inline constexpr TypeSet kNarrowLevelTypes = TypeBit(DType::kF8E4M3FN) | TypeBit(DType::kF8E4M3FNUZ) |
                                             TypeBit(DType::kF8E5M2) | TypeBit(DType::kF8E5M2FNUZ) |
                                             TypeBit(DType::kF4E2M1) | TypeBit(DType::kI4) |
                                             TypeBit(DType::kU4) | TypeBit(DType::kI2) | TypeBit(DType::kU2);
inline constexpr TypeSet kMovedTypes = kAllTypes | kNarrowLevelTypes | TypeBit(DType::kF8E8M0);

inline void NeedType(const InferContext& c, int i, TypeSet allowed) {
  if (allowed & TypeBit(c.type(i))) return;
  std::string names;
  for (DType t = DType::kF32; t <= kLastDType; t = DType(uint8_t(t) + 1))
    if (allowed & TypeBit(t)) names += fmt::format("{}{}", names.empty() ? "" : " ", Name(t));
  c.Bad("input {} has a type that this operator does not take; got {}, expected one of {}", i,
        Name(c.type(i)), names);
}

// Throws an Error unless all present inputs from `first` on have the type of input `like`.
inline void NeedSameTypes(const InferContext& c, int like, int first) {
  for (int i = first; i < c.inputs(); ++i)
    if (c.has(i) && c.type(i) != c.type(like))
      c.Bad("inputs {} and {} differ in type; got {} and {}; try a Cast", like, i, Name(c.type(like)),
            Name(c.type(i)));
}

inline void NeedShape(const InferContext& c, int i, const Shape& shape) {
  if (c.shape(i) != shape)
    c.Bad("input {} has the wrong shape; got {}, expected {}", i, ToString(c.shape(i)), ToString(shape));
}

}  // namespace mete
