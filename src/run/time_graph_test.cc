#include "run/time_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace mete {
namespace {

TEST(MadeUp, ValuesAreSmallOfBothSignsAndOfAnyNumber) {
  for (const int64_t elements : {int64_t(1), int64_t(4092), int64_t(4093), int64_t(4094), int64_t(10'000)}) {
    const Tensor made = MadeUp(DType::kF32, {elements});
    int64_t good = 0;
    for (int64_t i = 0; i < elements; ++i) good += std::abs(made.as<float>()[i]) <= 1;
    EXPECT_EQ(good, elements);
  }
  const Tensor made = MadeUp(DType::kF32, {10'000});
  EXPECT_LT(*std::min_element(made.as<float>(), made.as<float>() + 10'000), -0.9f);
  EXPECT_GT(*std::max_element(made.as<float>(), made.as<float>() + 10'000), 0.9f);
}

TEST(MadeUp, InputsOfATypeShareTheirBytes) {
  Graph graph;
  const ValueId a = graph.AddValue("a", DType::kF32, {2, 3}), b = graph.AddValue("b", DType::kF32, {70}),
                c = graph.AddValue("c", DType::kI64, {4});
  const std::vector<ValueId> ids{a, b, c};
  const std::vector<Tensor> inputs = MadeUpInputs(graph, ids);
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[0].shape(), (Shape{2, 3}));
  EXPECT_EQ(inputs[0].data(), inputs[1].data());
  EXPECT_NE(inputs[0].data(), inputs[2].data());
  EXPECT_EQ(inputs[2].as<int64_t>()[3], 0);
}

}  // namespace
}  // namespace mete
