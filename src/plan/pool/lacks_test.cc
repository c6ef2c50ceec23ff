#include "plan/pool/lacks.h"

#include <gtest/gtest.h>

#include "partition/layers.h"
#include "passes/graphs_testing.h"

namespace mete {
namespace {

TEST(LacksOf, HasALineForEachReason) {
  Builder b;
  ValueId x = b.Input({1, 4, 8, 8});
  for (int i = 0; i < 4; ++i) x = b.Conv(x, 4, 4, 1);
  b.Output(x);
  InferShapes(b.graph);
  const std::vector<Layer> layers = LayersOf(b.graph);
  ASSERT_EQ(layers.size(), 4u);
  ProcessorCosts gpu{"gpu", {}, std::vector<LayerCost>(4)};
  EXPECT_TRUE(LacksOf(b.graph, gpu).empty());
  gpu.layers[1].why_not = gpu.layers[3].why_not = "no i8";
  gpu.layers[2].why_not = "no kernel for operator Conv";
  EXPECT_EQ(LacksOf(b.graph, gpu),
            (std::vector<std::string>{
                "cannot compute layer '" + layers[1].name + "' and 1 more: no i8",
                "cannot compute layer '" + layers[2].name + "': no kernel for operator Conv"}));
}

}  // namespace
}  // namespace mete
