// Element types of at most 8 bits that ONNX has beside i8, u8 and bool: floats of 4 and 8 bits, and integers
// of 2 and 4. A table in narrow.cc has their formats. No kernel computes with them, but three operators
// convert between them and other types.
#pragma once

#include <cstdint>

#include "mete/tensor.h"

namespace mete {

inline bool IsNarrow(DType type) { return type >= DType::kF8E4M3FN; }
inline bool IsNarrowFloat(DType type) { return type >= DType::kF8E4M3FN && type <= DType::kF4E2M1; }

// Returns the number of bits of an element of a narrow type, which is that in a file.
int BitsOf(DType narrow);

// Returns the numbers of the 256 bytes. Bits that the type lacks are ignored. f32 holds every number exactly.
const float* NarrowNumbers(DType narrow);

DType ByteTypeOf(DType narrow_integer);  // i8 or u8
// Returns the integers of a tensor as bytes.
Tensor AsBytes(const ConstView& narrow_integers);

// Returns the byte of an integer without the high bits that its type lacks: -9 is the i4 7.
uint8_t LowBits(DType narrow_integer, int64_t value);

// Returns the byte of the nearest integer of the type's range; ties go to the even one, NaN to the lowest.
uint8_t NearestLevel(DType narrow_integer, double value);

// How a number becomes a float of a narrow type, by the attributes of Cast.
struct NarrowRounding {
  // What is out of range becomes the largest number; if not, infinity, or NaN where there is none.
  // f4e2m1, which has neither, saturates always.
  bool saturate = true;
  // The direction for f8e8m0; other types round to the nearest number, ties to the even one.
  enum class Powers : uint8_t { kUp, kDown, kNearest } powers = Powers::kUp;
};

// Returns the byte of the float of type `narrow_float` that `value` is rounded to, as ONNX's Cast does. ONNX
// leaves open what NaN is in f4e2m1, which has none, and what a negative number is in f8e8m0, which has no
// sign: the former becomes 0, the latter NaN.
uint8_t EncodeFloat(DType narrow_float, double value, const NarrowRounding& how = {});

}  // namespace mete
