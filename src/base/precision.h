// The precision in which products may be computed.
#pragma once

#include <string_view>

namespace mete {

// kBf16, kF16: both operands of products may be rounded to bf16 or to f16. kW8, kW4: constant weights of
// matrix products may be rounded to 8 or 4 bits with scales (kernels/fast/matvec/few_bits.h). All sums are of
// f32. kI32: of products of bytes alone, whose sums are exact integers.
enum class Precision { kF32, kBf16, kF16, kW8, kW4, kI32 };

const char* Name(Precision precision);  // "f32", "bf16", "f16", "w8", "w4", "i32"

// Returns whether both operands are halves, numbers of 16 bits (kernels/fast/half).
inline bool IsHalf(Precision p) { return p == Precision::kBf16 || p == Precision::kF16; }

// Returns the bits of a weight that is rounded to a precision, without those of scales.
int BitsOf(Precision precision);

// Error INVALID_ARGUMENT for a name that is none; its message names `where`, the place that the name comes
// from.
Precision ParsePrecision(std::string_view where, std::string_view name);

}  // namespace mete
