#include "plan/site/kept_parts.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"

namespace mete {
namespace {

constexpr PartCosts kCosts{40, 12, 300};

MissingParts Of(const std::string& word) { return ParseMissing(word, "test"); }

LoadsByMissing Seen(std::initializer_list<std::pair<const char*, double>> loads) {
  LoadsByMissing seen;
  for (const auto& [word, ms] : loads) seen[Of(word).to_ulong()] = ms;
  return seen;
}

TEST(LoadWith, AddsWhatIsMissingInEachCombination) {
  for (size_t missing = 0; missing < kMissing; ++missing) {
    const LoadNow load = LoadWith(Seen({{"none", 60}}), kCosts, missing).value();
    double ms = 60;
    size_t terms = 0;
    for (size_t p = 0; p < kKeptParts; ++p) {
      if (!MissingParts(missing)[p]) continue;
      ms += *kCosts[p];
      EXPECT_EQ(load.terms.at(terms++), (LoadTerm{KeptPart(p), true, kCosts[p]}));
    }
    EXPECT_NEAR(load.ms, ms, 1e-9) << WordOf(missing);
    EXPECT_EQ(load.terms.size(), terms);
  }
}

// Each load is seen once, and each other one follows from it by what the parts between both add.
TEST(LoadWith, FollowsFromAnyLoadThatWasSeen) {
  const auto sum = [](MissingParts missing) {
    double ms = 60;
    for (size_t p = 0; p < kKeptParts; ++p) ms += missing[p] ? *kCosts[p] : 0;
    return ms;
  };
  for (size_t seen = 0; seen < kMissing; ++seen)
    for (size_t missing = 0; missing < kMissing; ++missing) {
      LoadsByMissing loads;
      loads[seen] = sum(seen);
      EXPECT_NEAR(LoadWith(loads, kCosts, missing)->ms, sum(missing), 1e-9)
          << WordOf(seen) << " to " << WordOf(missing);
    }
}

TEST(LoadWith, IsTheOneThatWasSeenLikeThis) {
  const LoadNow load =
      LoadWith(Seen({{"none", 60}, {"timings", 90}, {"weights", 10}}), kCosts, Of("timings")).value();
  EXPECT_EQ(load.ms, 90);
  EXPECT_EQ(load.terms, (std::vector<LoadTerm>{{KeptPart::kTimings, true, 12}}));
}

TEST(LoadWith, APartAddsTheDifferenceOfTwoLoads) {
  const LoadNow load =
      LoadWith(Seen({{"none", 60}, {"timings", 75}, {"weights", 80}}), {}, Of("weights+timings")).value();
  EXPECT_NEAR(load.ms, 60 + 15 + 20, 1e-9);
  EXPECT_EQ(load.terms[0].ms, 20);
  EXPECT_EQ(load.terms[1].ms, 15);
}

TEST(LoadWith, AnUnknownPartIsATermWithoutAFigure) {
  const LoadNow missing = LoadWith(Seen({{"none", 60}}), {}, Of("programs")).value();
  EXPECT_EQ(missing.ms, 60);
  EXPECT_EQ(missing.terms, (std::vector<LoadTerm>{{KeptPart::kPrograms, true, {}}}));
  const LoadNow there = LoadWith(Seen({{"programs", 60}}), {}, Of("none")).value();
  EXPECT_EQ(there.ms, 60);
  EXPECT_EQ(there.terms, (std::vector<LoadTerm>{{KeptPart::kPrograms, false, {}}}));
  // a load with as many parts between that are known is nearer
  EXPECT_EQ(LoadWith(Seen({{"programs", 500}, {"timings", 70}}), PartCosts{std::nullopt, 12, std::nullopt},
                     Of("none"))
                ->ms,
            58);
  EXPECT_FALSE(LoadWith({}, kCosts, Of("none")));
}

TEST(LoadWith, IsNeverBelowZero) { EXPECT_EQ(LoadWith(Seen({{"programs", 60}}), kCosts, Of("none"))->ms, 0); }

TEST(PartCostsOf, AreStartsWithoutAPartLessOneWithAll) {
  StartCosts starts;
  starts.killed = {.ms = 150, .starts = 1};
  starts.without_weights = {.ms = 190, .starts = 1};
  starts.without_timings = {.ms = 140, .starts = 1};  // noise: nothing is saved
  EXPECT_EQ(PartCostsOf(starts), (PartCosts{40, 0, {}}));
}

TEST(LoadTerms, AreToldInWords) {
  EXPECT_EQ(TextOf(LoadTerm{KeptPart::kTimings, true, 12, "the file is gone"}),
            "12.0 ms of the load, because timings are not kept: the file is gone");
  EXPECT_EQ(TextOf(LoadTerm{KeptPart::kPrograms, true, {}}),
            "GPU programs are not kept; what they add to the load is not known");
  EXPECT_EQ(TextOf(LoadTerm{KeptPart::kWeights, false, {}}),
            "the load was seen without packed weights, which are kept now; what they save is not known");
  EXPECT_EQ(WordOf(Of("weights+programs")), "weights+programs");
  EXPECT_TELLS(Of("cores"), "[test] names no parts of what is kept; got 'cores'");
}

}  // namespace
}  // namespace mete
