#include "kernels/fast/target/target.h"

#include <gtest/gtest.h>

#include "mete/error.h"

namespace mete {
namespace {

TEST(Target, EveryAvailableOneCanBeForced) {
  for (const std::string& name : AvailableTargets()) {
    ForceTarget(name);
    EXPECT_EQ(ActiveTarget(), name);
    EXPECT_GT(MeasurePeakFlops(), 0.01);
  }
  ForceTarget("");
  EXPECT_EQ(ActiveTarget(), AvailableTargets().front());
}

TEST(Target, AnUnknownOneIsAnErrorThatListsTheOthers) {
  try {
    ForceTarget("abacus");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_NE(std::string(e.what()).find("abacus"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("scalar"), std::string::npos);
  }
}

TEST(Target, ReadBandwidthIsPositive) { EXPECT_GT(MeasureReadBandwidth(1 << 20), 0.1); }

}  // namespace
}  // namespace mete
