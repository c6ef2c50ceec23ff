// How floats travel between processors: as they are, as f16, or as 8 bits between the least and the largest
// of a piece. What is not f32 travels as it is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mete/tensor.h"

namespace mete {

enum class Coding : uint8_t { kF32, kF16, kU8 };

const char* Name(Coding coding);         // "f32", "f16", "u8"
Coding CodingOf(std::string_view name);  // Error for others

// Returns the bytes of a coded tensor, which do not depend on its values.
int64_t CodedBytes(Coding coding, DType type, const Shape& shape);

// u8: two f32, the least value and the step, then a byte a value, rounded to nearest. The error is half a
// step at most, a 510th of the range (Largest less least); of f16 2^-11 of the value, or 2^-25 where that is
// less. Values that are not finite keep that in f16 alone: u8 makes NaN the least value, and clamps
// infinities to the largest finite ones.
std::string Encode(Coding coding, const ConstView& tensor);

// Into a tensor of that type and shape. `bytes` has CodedBytes() of it.
void Decode(Coding coding, std::string_view bytes, const View& into);

}  // namespace mete
