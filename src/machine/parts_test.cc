// Tests the parts of reading a Machine: lists of cores, types, capacities.
#include <gtest/gtest.h>

#include "machine/capacity.h"
#include "machine/core_list.h"
#include "machine/core_type.h"
#include "machine/sysfs.h"

namespace mete {
namespace {

using Cores = std::vector<int>;

TEST(CoreList, ParsesRangesAndNumbers) {
  EXPECT_EQ(ParseCoreList("0-3,5"), (Cores{0, 1, 2, 3, 5}));
  EXPECT_EQ(ParseCoreList("7 4 5"), (Cores{4, 5, 7}));
  EXPECT_EQ(ParseCoreList("2,2,1-2"), (Cores{1, 2}));
  EXPECT_EQ(ParseCoreList("4095"), (Cores{4095}));
}

TEST(CoreList, RefusesWhatIsNone) {
  for (const char* text : {"", ",", "1,", "-1", "1-", "3-2", "0x3", "1.5", "4096", "0-4294967295",
                           "99999999999999999999", " 1", "1 - 2"})
    EXPECT_EQ(ParseCoreList(text), std::nullopt) << text;
}

TEST(CoreList, BoundsRepeatedRanges) {
  std::string text = "0-4095";
  for (int i = 0; i < 1000; ++i) text += ",0-4095";
  EXPECT_EQ(ParseCoreList(text), std::nullopt);
}

TEST(CoreList, MakesARoundTrip) {
  for (const char* text : {"0", "0-1", "0,2", "0-3,5,7-9"})
    EXPECT_EQ(FormatCoreList(*ParseCoreList(text)), text);
  EXPECT_EQ(FormatCoreList({}), "");
}

TEST(CoreType, KnowsArmsPartNumbers) {
  EXPECT_EQ(ArmCoreName(0x41, 0xd0b), "Cortex-A76");
  EXPECT_EQ(ArmCoreName(0x42, 0xd0b), "");
  EXPECT_EQ(ArmCoreName(-1, -1), "");
  EXPECT_TRUE(IsInOrder("Cortex-A53"));
  EXPECT_FALSE(IsInOrder("Cortex-A72"));
  EXPECT_FALSE(IsInOrder(""));
}

TEST(CoreType, ReadsIntelsRegisters) {
  constexpr uint32_t kHybrid = 1u << 15;
  EXPECT_EQ(HybridTypeOf(kHybrid, 0x40000001), kPerformanceCore);
  EXPECT_EQ(HybridTypeOf(kHybrid | 1, 0x20000001), kEfficientCore);
  EXPECT_EQ(HybridTypeOf(kHybrid, 0), "");
  EXPECT_EQ(HybridTypeOf(0, 0x40000001), "");  // without the hybrid bit leaf 0x1a means nothing
}

CoreFacts Facts(const std::string& type, int64_t cpu_capacity, int64_t max_khz) {
  CoreFacts facts;
  facts.type = type;
  facts.cpu_capacity = cpu_capacity;
  facts.frequency.max_khz = max_khz;
  return facts;
}

TEST(Capacity, TakesTheFirstThatTellsCoresApart) {
  EXPECT_EQ(CapacitiesOf({Facts("", 512, 3), Facts("", 1024, 1)}).of, (std::vector{0.5, 1.0}));
  EXPECT_EQ(CapacitiesOf({Facts("", 1024, 300), Facts("", 1024, 600)}).of, (std::vector{0.5, 1.0}));
  // cpu_capacity is not known for all cores
  EXPECT_EQ(CapacitiesOf({Facts("", 0, 300), Facts("", 1024, 600)}).of, (std::vector{0.5, 1.0}));
  EXPECT_EQ(CapacitiesOf({Facts("", 512, 600), Facts("", 512, 600)}).of, (std::vector{0.5, 0.5}));
  EXPECT_EQ(CapacitiesOf({Facts("", 0, 0), Facts("", 0, 600)}).of, (std::vector{1.0, 1.0}));
  EXPECT_EQ(CapacitiesOf({}).of, std::vector<double>());
}

TEST(Capacity, HybridNeedsATypeForEveryCore) {
  EXPECT_EQ(CapacitiesOf({Facts(kPerformanceCore, 0, 0), Facts(kEfficientCore, 0, 0)}).source,
            CapacitySource::kHybridType);
  EXPECT_EQ(CapacitiesOf({Facts(kPerformanceCore, 0, 4), Facts("", 0, 2)}).source,
            CapacitySource::kMaxFrequency);
  EXPECT_EQ(CapacitiesOf({Facts(kPerformanceCore, 0, 5000), Facts(kPerformanceCore, 0, 2000)}).source,
            CapacitySource::kMaxFrequency);
}

TEST(Capacity, WhatIsNearlyEqualIsEqual) {
  const auto same = CapacitiesOf({Facts("", 0, 5000), Facts("", 0, 4800), Facts("", 0, 2000)});
  EXPECT_EQ(same.of, (std::vector{1.0, 1.0, 0.4}));
  EXPECT_EQ(CapacitiesOf({Facts("", 0, 5000), Facts("", 0, 4900)}).source, CapacitySource::kEqual);
  EXPECT_EQ(CapacitiesOf({Facts("", 1024, 0), Facts("", 1009, 0), Facts("", 500, 0)}).of,
            (std::vector{1.0, 1.0, 500.0 / 1024}));
}

TEST(Capacity, OfAnEfficientCoreIsItsClockAndItsWorkACycle) {
  EXPECT_DOUBLE_EQ(HybridCapacity(kEfficientCore, 2500, 5000), 0.78741 / 2);
  EXPECT_DOUBLE_EQ(HybridCapacity(kEfficientCore, 0, 5000), 0.78741);
  EXPECT_DOUBLE_EQ(HybridCapacity(kPerformanceCore, 4000, 5000), 1);
}

}  // namespace
}  // namespace mete
