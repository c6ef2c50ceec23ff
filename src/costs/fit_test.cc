#include "costs/fit.h"

#include <gtest/gtest.h>

#include <random>

namespace mete {
namespace {

double Truth(const std::map<std::string, double>& amounts) {
  static const std::map<std::string, double> kNs{{"tile", 3.0}, {"byte", 0.05}, {"node", 700}};
  double sum = 0;
  for (const auto& [what, amount] : amounts) sum += kNs.at(what) * amount;
  return sum;
}

std::vector<FitSample> Samples(int count, double noise) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> log(0, 3), off(-noise, noise);
  std::vector<FitSample> samples;
  for (int i = 0; i < count; ++i) {
    FitSample s{
        {{"tile", 10 * std::pow(10, log(random))}, {"byte", 1000 * std::pow(10, log(random))}, {"node", 1}},
        0};
    s.ns = Truth(s.amounts) * (1 + off(random));
    samples.push_back(s);
  }
  return samples;
}

TEST(FitUnits, FindsWhatThingsTake) {
  const Fit fit = FitUnits(Samples(60, 0));
  EXPECT_NEAR(fit.ns.at("tile"), 3.0, 3.0 * 1e-3);
  EXPECT_NEAR(fit.ns.at("byte"), 0.05, 0.05 * 1e-3);
  EXPECT_NEAR(fit.ns.at("node"), 700, 700 * 1e-3);
  EXPECT_EQ(fit.samples, 60);
  EXPECT_EQ(fit.within, 1);
  EXPECT_LT(fit.spread, 1e-3);
}

TEST(FitUnits, NoiseMovesItLittleAndOutliersHardly) {
  std::vector<FitSample> samples = Samples(200, 0.03);
  for (size_t i = 0; i < samples.size(); i += 20) samples[i].ns *= 3;  // another program had the core
  const Fit fit = FitUnits(samples);
  EXPECT_NEAR(fit.ns.at("tile"), 3.0, 3.0 * 0.03);
  EXPECT_NEAR(fit.ns.at("byte"), 0.05, 0.05 * 0.03);
  EXPECT_NEAR(fit.within, 0.95, 0.01);
}

TEST(FitUnits, NothingTakesLessThanNothing) {
  std::vector<FitSample> samples;
  for (double x : {1.0, 2.0, 3.0, 4.0}) samples.push_back({{{"a", x}, {"b", x * x}}, 10 * x - x * x});
  const Fit fit = FitUnits(samples);
  EXPECT_FALSE(fit.ns.contains("b"));
  EXPECT_GT(fit.ns.at("a"), 0);
}

TEST(FitUnits, ThingsThatComeTogetherAreToldApartByTheirSumAlone) {
  std::vector<FitSample> samples;
  for (double x : {1.0, 5.0, 9.0}) samples.push_back({{{"a", x}, {"b", 2 * x}}, 6 * x});
  EXPECT_NEAR(FitUnits(samples).Predict({{"a", 3}, {"b", 6}}), 18, 1e-3);
}

TEST(FitUnits, OfNothingPredictsNothingAndKnowsNothing) {
  const Fit fit = FitUnits({});
  EXPECT_EQ(fit.Predict({{"a", 1}}), 0);
  EXPECT_FALSE(fit.Known({{"a", 1}}));
  EXPECT_TRUE(fit.Known({}));
}

}  // namespace
}  // namespace mete
