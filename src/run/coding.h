// The coding of floats that processors send to each other: unchanged, as f16, or as 8 bits between the least
// and the largest value of a piece. Values that are not f32 are sent unchanged.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mete/tensor.h"

namespace mete {

enum class Coding : uint8_t { kF32, kF16, kU8 };

const char* Name(Coding coding);         // "f32", "f16", "u8"
Coding CodingOf(std::string_view name);  // Error for other names

// Returns the bytes of a coded tensor, which do not depend on its values.
int64_t CodedBytes(Coding coding, DType type, const Shape& shape);

// Codes a tensor. As u8 the bytes are two f32, the least value and the step, then one byte for each value,
// rounded to nearest. The error is at most half a step, which is a 510th of the range (largest less least).
// As f16 the error is at most 2^-11 of the value, or 2^-25 if that is more. Only f16 keeps values that are
// not finite: u8 replaces NaN by the least value, and clamps infinities to the largest finite values.
std::string Encode(Coding coding, const ConstView& tensor);

// Decodes `bytes`, which has CodedBytes() bytes for the type and shape of `into`.
void Decode(Coding coding, std::string_view bytes, const View& into);

}  // namespace mete
