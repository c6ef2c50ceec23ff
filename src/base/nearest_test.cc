#include "base/nearest.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

using Names = std::vector<std::string>;

TEST(NearestNames, FindsTypingErrors) {
  const Names known{"cores", "capacity", "core", "caches"};
  EXPECT_EQ(NearestNames("capcity", known), Names{"capacity"});
  EXPECT_EQ(NearestNames("core_", known), (Names{"cores", "core"}));
  EXPECT_EQ(NearestNames("cahces", known), Names{"caches"});
}

TEST(NearestNames, FindsBeginningsFirst) {
  EXPECT_EQ(NearestNames("--top", {"--crop", "--type", "--top-k"}), (Names{"--top-k", "--crop", "--type"}));
  EXPECT_EQ(NearestNames("--res", {"--crop", "--resize-shorter"}), Names{"--resize-shorter"});
}

TEST(NearestNames, GivesNothingWhereNothingIsNear) {
  const Names known{"cores", "capacity"};
  EXPECT_EQ(NearestNames("banana", known), Names{});
  EXPECT_EQ(NearestNames("", known), Names{});
  EXPECT_EQ(NearestNames(std::string(100000, 'c'), known), Names{});
}

TEST(NearestNames, GivesThreeAtMost) {
  EXPECT_EQ(NearestNames("l0x", {"l1x", "l2x", "l3x", "l4x"}), (Names{"l1x", "l2x", "l3x"}));
}

TEST(ExpectedOneOf, ListsAndAdvises) {
  EXPECT_EQ(ExpectedOneOf("rbg", {"rgb", "bgr", "gray"}), ", expected one of rgb, bgr, gray; try rgb");
  EXPECT_EQ(ExpectedOneOf("banana", {"rgb", "bgr"}), ", expected one of rgb, bgr");
  EXPECT_EQ(ExpectedOneOf("c_re", {"core", "b", "c", "d", "e", "f", "g", "h", "i"}), "; try core");
}

}  // namespace
}  // namespace mete
