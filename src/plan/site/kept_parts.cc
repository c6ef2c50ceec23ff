#include "plan/site/kept_parts.h"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "base/error.h"

namespace mete {
namespace {

// Returns what a part adds: as given, or by two loads that differ in it alone.
std::optional<double> AddedBy(size_t part, const LoadsByMissing& loads, const PartCosts& costs) {
  if (costs[part]) return costs[part];
  for (size_t with = 0; with < kMissing; ++with) {
    const MissingParts without = MissingParts(with).set(part);
    if (!MissingParts(with)[part] && loads[with] && loads[without.to_ulong()])
      return std::max(0.0, *loads[without.to_ulong()] - *loads[with]);
  }
  return std::nullopt;
}

PartCosts Known(const LoadsByMissing& loads, const PartCosts& costs) {
  PartCosts known;
  for (size_t p = 0; p < kKeptParts; ++p) known[p] = AddedBy(p, loads, costs);
  return known;
}

// Returns how far a load is from what is asked for: the parts between both of which nothing is known, and all
// parts between.
std::pair<size_t, size_t> DistanceOf(MissingParts between, const PartCosts& known) {
  size_t unknown = 0;
  for (size_t p = 0; p < kKeptParts; ++p) unknown += between[p] && !known[p] ? 1 : 0;
  return {unknown, between.count()};
}

// Returns the index of the nearest load that is known; kMissing: none is.
size_t NearestTo(MissingParts missing, const LoadsByMissing& loads, const PartCosts& known) {
  size_t nearest = kMissing;
  for (size_t seen = 0; seen < kMissing; ++seen) {
    if (!loads[seen]) continue;
    const auto distance = [&](size_t of) { return DistanceOf(missing ^ MissingParts(of), known); };
    if (nearest == kMissing || distance(seen) < distance(nearest)) nearest = seen;
  }
  return nearest;
}

}  // namespace

const char* TextOf(KeptPart part) {
  constexpr const char* kTexts[kKeptParts] = {"packed weights", "timings", "GPU programs"};
  return kTexts[size_t(part)];
}

const std::vector<std::string>& KeptPartWords() {
  static const std::vector<std::string> words{"weights", "timings", "programs"};
  return words;
}

std::string WordOf(MissingParts missing) {
  std::vector<std::string> words;
  for (size_t p = 0; p < kKeptParts; ++p)
    if (missing[p]) words.push_back(KeptPartWords()[p]);
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, "+"));
}

MissingParts ParseMissing(const std::string& word, const std::string& where) {
  for (size_t missing = 0; missing < kMissing; ++missing)
    if (WordOf(missing) == word) return missing;
  Invalid(where, "names no parts of what is kept; got '{}', expected none, or some of: {}",
          Printable(word.substr(0, 80)), fmt::join(KeptPartWords(), "+"));
}

PartCosts PartCostsOf(const StartCosts& starts) {
  const auto added = [&](const std::optional<StartCost>& without) -> std::optional<double> {
    if (!without) return std::nullopt;
    return std::max(0.0, without->ms - starts.killed.ms);
  };
  return {added(starts.without_weights), added(starts.without_timings), added(starts.without_programs)};
}

std::optional<LoadNow> LoadWith(const LoadsByMissing& loads, const PartCosts& costs, MissingParts missing) {
  const PartCosts known = Known(loads, costs);
  const size_t seen = NearestTo(missing, loads, known);
  if (seen == kMissing) return std::nullopt;
  LoadNow load{*loads[seen], {}};
  for (size_t p = 0; p < kKeptParts; ++p) {
    const bool was_missing = MissingParts(seen)[p];
    if (missing[p] && !was_missing) load.ms += known[p].value_or(0);
    if (!missing[p] && was_missing) load.ms -= known[p].value_or(0);
    if (missing[p] || (was_missing && !known[p])) load.terms.push_back({KeptPart(p), missing[p], known[p]});
  }
  load.ms = std::max(0.0, load.ms);
  return load;
}

std::string TextOf(const LoadTerm& term) {
  const char* what = TextOf(term.part);
  if (!term.is_missing)
    return fmt::format("the load was seen without {}, which are kept now; what they save is not known", what);
  const std::string why = term.why.empty() ? "" : ": " + term.why;
  return term.ms ? fmt::format("{:.1f} ms of the load, because {} are not kept{}", *term.ms, what, why)
                 : fmt::format("{} are not kept{}; what they add to the load is not known", what, why);
}

}  // namespace mete
