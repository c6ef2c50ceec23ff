#include "base/nearest.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

using Names = std::vector<std::string>;

TEST(NearestNames, FindsTypingErrors) {
  const Names known{"cores", "capacity", "core", "caches"};
  EXPECT_EQ(NearestNames("capcity", known), Names{"capacity"});
  EXPECT_EQ(NearestNames("core_", known), (Names{"cores", "core"}));
}

TEST(NearestNames, GivesAllWhereNothingIsNear) {
  const Names known{"cores", "capacity"};
  EXPECT_EQ(NearestNames("banana", known), known);
  EXPECT_EQ(NearestNames("", known), known);
  EXPECT_EQ(NearestNames(std::string(100000, 'c'), known), known);
}

TEST(NearestNames, GivesThreeAtMost) { EXPECT_EQ(NearestNames("l0x", {"l1x", "l2x", "l3x", "l4x"}), (Names{"l1x", "l2x", "l3x"})); }

}  // namespace
}  // namespace mete
