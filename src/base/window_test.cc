#include "base/window.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

TEST(StatedPads, AreThoseOfTheNodeUnlessTheyDependOnSizes) {
  const Ints pads{1, 2, 3, 4}, none(4, 0);
  const auto stated = [&](const char* auto_pad, bool has_pads) {
    Attributes a;
    if (auto_pad) a.Set("auto_pad", std::string(auto_pad));
    if (has_pads) a.Set("pads", pads);
    return StatedPads(a, 2);
  };
  for (const char* counts : {static_cast<const char*>(nullptr), "", "NOTSET"}) {
    EXPECT_EQ(stated(counts, true), pads);
    EXPECT_EQ(stated(counts, false), none);
  }
  EXPECT_EQ(stated("VALID", true), none);  // the node's pads do not count then
  for (const char* other : {"SAME_UPPER", "SAME_LOWER", "SOME"}) EXPECT_EQ(stated(other, true), std::nullopt);
}

TEST(StatedPads, AreNoneThatFitIfTheirNumberIsWrong) {
  Attributes a;
  a.Set("pads", Ints{1, 1});
  EXPECT_EQ(StatedPads(a, 2), std::nullopt);
  EXPECT_EQ(StatedPads(a, 1), (Ints{1, 1}));
}

}  // namespace
}  // namespace mete
