// Instructions that only some of the processors of a target (target.h) have. A kernel's plan chooses its code
// by them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mete {

enum class Feature {
  kAvx512Vnni,  // vpdpbusd on 512 bits: four products of bytes added to each of 16 sums
  kAvxVnni,     // vpdpbusd on 256 bits, without AVX-512
  kAvx512Vbmi,  // vpermi2b on 512 bits: each byte is one of 128
  kAvx512Bf16,  // vdpbf16ps on 512 bits: two products of bf16 added to each of 16 sums of f32
  kDotprod,     // SDOT: four products of signed bytes added to each of 4 sums
  kI8mm,        // SMMLA, USMMLA: eight products of bytes added to each of 2 x 2 sums
  kBf16,        // BFMMLA: four products of bf16 added to each of 2 x 2 sums of f32
};

// Returns whether this processor has the feature, and it is not forced away.
bool Has(Feature feature);

// Returns the names of the features that this processor has: some of "avx512vnni", "avxvnni", "avx512vbmi",
// "avx512bf16", "dotprod", "i8mm", "bf16".
std::vector<std::string> AvailableFeatures();

// Returns the active target (target.h) and the features of this processor that are forced away, as a part of
// the names of what is measured: "avx512", "avx512 without avx512vnni".
std::string ActiveInstructions();

// Makes all later plans of the process do without the features of a list such as "avx512vnni,avxvnni"; ""
// takes that back. Throws FAILED_PRECONDITION for a name that is no feature. No other thread may make plans
// during the call.
void ForceWithout(std::string_view names);

}  // namespace mete
