#include "run/turns.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

TEST(MediansInTurns, EachHasTheMedianOfItsRunsWithoutTheFirst) {
  std::vector<size_t> order;
  const std::vector<double> medians = MediansInTurns(2, [&](size_t i) {
    order.push_back(i);
    const double round = double(order.size() - 1 - i) / 2;  // 0: to warm up
    return round == 0 ? 1000 : i == 0 ? round : 20 - round;
  });
  EXPECT_EQ(medians, (std::vector<double>{4, 16}));  // of 1 to 7, and of 19 to 13
  ASSERT_EQ(order.size(), 16u);
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i % 2);
}

TEST(MediansInTurns, NothingIsRunForNothing) {
  EXPECT_TRUE(MediansInTurns(0, [](size_t) -> double { throw "a run"; }).empty());
}

}  // namespace
}  // namespace mete
