#include "base/precision.h"

#include <string>

#include "base/error.h"

namespace mete {

const char* Name(Precision precision) { return precision == Precision::kBf16 ? "bf16" : "f32"; }

Precision ParsePrecision(std::string_view where, std::string_view name) {
  for (const Precision precision : {Precision::kF32, Precision::kBf16})
    if (name == Name(precision)) return precision;
  Invalid(std::string(where), "no such precision; got '{}', expected f32 or bf16", name);
}

}  // namespace mete
