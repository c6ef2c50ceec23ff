// The precision in which products may be computed.
#pragma once

#include <string_view>

namespace mete {

// kBf16: operands of products may be rounded to bf16; sums are f32.
enum class Precision { kF32, kBf16 };

const char* Name(Precision precision);  // "f32", "bf16"

// Error INVALID_ARGUMENT for a name that is none; its message names `where`, the place that the name comes
// from.
Precision ParsePrecision(std::string_view where, std::string_view name);

}  // namespace mete
