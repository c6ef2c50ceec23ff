#include "base/precision.h"

#include <string>

#include "base/error.h"

namespace mete {
namespace {

constexpr Precision kAll[] = {Precision::kF32, Precision::kBf16, Precision::kF16,
                              Precision::kW8,  Precision::kW4,   Precision::kI32};

}  // namespace

const char* Name(Precision precision) {
  switch (precision) {
    case Precision::kF32: return "f32";
    case Precision::kBf16: return "bf16";
    case Precision::kF16: return "f16";
    case Precision::kW8: return "w8";
    case Precision::kW4: return "w4";
    case Precision::kI32: return "i32";
  }
  return "";
}

int BitsOf(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
    case Precision::kF16: return 16;
    case Precision::kW8: return 8;
    case Precision::kW4: return 4;
    case Precision::kF32:
    case Precision::kI32: break;
  }
  return 32;
}

Precision ParsePrecision(std::string_view where, std::string_view name) {
  for (const Precision precision : kAll)
    if (name == Name(precision)) return precision;
  std::string names;
  for (const Precision precision : kAll) names += (names.empty() ? "" : ", ") + std::string(Name(precision));
  Invalid(std::string(where), "no such precision; got '{}', expected one of {}; try f32", name, names);
}

}  // namespace mete
