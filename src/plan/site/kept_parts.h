// What a start of a model finds of what earlier sessions have kept, and what it takes where a part of that is
// missing.
#pragma once

#include <array>
#include <bitset>
#include <optional>
#include <string>
#include <vector>

#include "costs/starts.h"

namespace mete {

//   weights     packed, in the order of the kernels
//   timings     of kernels, and of layers on a pool
//   programs    of a GPU
enum class KeptPart { kWeights, kTimings, kPrograms };
inline constexpr size_t kKeptParts = 3;
const char* TextOf(KeptPart part);                // "packed weights", for people
const std::vector<std::string>& KeptPartWords();  // "weights", in the order of KeptPart

using MissingParts = std::bitset<kKeptParts>;  // by KeptPart
inline constexpr size_t kMissing = 1u << kKeptParts;
std::string WordOf(MissingParts missing);  // "weights+timings"; "none"
// Error for a text that is none.
MissingParts ParseMissing(const std::string& word, const std::string& where);

// Milliseconds that each part adds to a load where it is missing; nothing: not known.
using PartCosts = std::array<std::optional<double>, kKeptParts>;
// As the starts without a part were measured, in the state killed, which stands for the others: a guess.
PartCosts PartCostsOf(const StartCosts& starts);

// Milliseconds of loads from one state, by the parts that were missing (MissingParts::to_ulong()).
using LoadsByMissing = std::array<std::optional<double>, kMissing>;

// A part of a load.
struct LoadTerm {
  KeptPart part = KeptPart::kWeights;
  // Whether the part is missing now; else it is there, and was missing when the load was seen.
  bool is_missing = true;
  std::optional<double> ms = {};  // nothing: what the part adds is not known, so that the load has it not, or
                                  // has it in a sum
  std::string why = {};           // it is missing, in words

  bool operator==(const LoadTerm&) const = default;
};

struct LoadNow {
  double ms = 0;
  std::vector<LoadTerm> terms = {};  // by part, without `why`
};

// Returns the load where these parts are missing; nothing if no load is known. One that was seen like this
// counts as it is. Else the nearest one counts, with what the parts between both add: the one with the fewest
// parts of which that is not known, then with the fewest parts between. Where `costs` does not know a part,
// the difference of two loads counts that differ in this part alone.
std::optional<LoadNow> LoadWith(const LoadsByMissing& loads, const PartCosts& costs, MissingParts missing);

// "12.0 ms of the load, because timings are not kept: ..."
std::string TextOf(const LoadTerm& term);

}  // namespace mete
