#include "profile/pool/half_times.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

// Three layers, of which the last is not halved.
HalfTimes Halves(std::vector<double> us) { return {{{}, {0.5, 0.4, 1}}, std::move(us)}; }
const std::vector<double> kLayersUs = {100, 50, 30};

TEST(HalfTimes, ExtraIsBesideTheSamePartsOfLayers) {
  EXPECT_DOUBLE_EQ(ExtraOfHalves(Halves({50, 20, 0}), kLayersUs), 1);
  EXPECT_DOUBLE_EQ(ExtraOfHalves(Halves({60, 24, 0}), kLayersUs), 1.2);
  EXPECT_DOUBLE_EQ(ExtraOfHalves({{{}, {1, 1, 1}}, {0, 0, 0}}, kLayersUs), 1);
}

TEST(HalfTimes, OfAQuietMomentAreNotMeasuredAgain) {
  HalfTimes times = Halves({54, 21, 0});
  MeasureDearHalvesAgain(times, kLayersUs, [](const LayerHalves&) -> std::vector<double> {
    ADD_FAILURE() << "measured again";
    return {0, 0, 0};
  });
  EXPECT_EQ(times.us, (std::vector<double>{54, 21, 0}));
}

TEST(HalfTimes, OfABadMomentAreMeasuredAgainAndTheShorterTimeCounts) {
  HalfTimes times = Halves({100, 21, 0});
  MeasureDearHalvesAgain(times, kLayersUs, [](const LayerHalves& halves) {
    EXPECT_EQ(halves.parts, (std::vector<double>{0.5, 0.4, 1}));
    return std::vector<double>{55, 40, 0};
  });
  EXPECT_EQ(times.us, (std::vector<double>{55, 21, 0}));
}

}  // namespace
}  // namespace mete
