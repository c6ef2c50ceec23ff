#include "partition/row_needs.h"

#include "partition/divide.h"
#include "partition/layers.h"
#include "partition/random_graphs_testing.h"

namespace mete {
namespace {

TEST(RowNeeds, SaysWhatDivideSays) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, 10);
    const Graph& graph = random.graph;
    RowNeeds needs(graph);
    for (int n = 0; n < int(graph.nodes.size()); ++n) {
      const Node& node = graph.nodes[size_t(n)];
      const Shape& shape = graph.value(node.outputs[0]).shape;
      for (int axis = 0; axis < shape.rank(); ++axis) {
        const int64_t begin = random.Pick(0, shape[axis] - 1), end = random.Pick(begin + 1, shape[axis]);
        Part part = Part::Of(axis, {begin, end});
        const auto d = Divide(graph, node, part);
        const std::vector<Part>& inputs = needs.Inputs(n, part);
        EXPECT_EQ(part, !d ? Part::All() : Part::Of(axis, d->rows.value_or(IndexRange{begin, end})));
        for (size_t i = 0; d && i < inputs.size(); ++i)
          EXPECT_EQ(inputs[i], d->inputs[i]) << node.name << " " << ToString(inputs[i]);
      }
    }
  }
}

TEST(RowNeeds, MakesNoTableOfRowsWithoutNumber) {
  Builder b;
  b.Output(b.Op("Relu", {b.Input({int64_t(1) << 28, 2})}));
  InferShapes(b.graph);
  RowNeeds needs(b.graph);
  Part part = Part::Of(0, {5, 1000});
  EXPECT_EQ(needs.Inputs(0, part)[0], Part::Of(0, {5, 1000}));
}

TEST(Layers, CoverTheNodesOnceAndBeginWithWhatComputes) {
  RandomGraph random(3, 30);
  const std::vector<Layer> layers = LayersOf(random.graph);
  int next = 0;
  for (const Layer& layer : layers) {
    EXPECT_EQ(layer.begin, next);
    EXPECT_LE(layer.begin, layer.anchor);
    EXPECT_LT(layer.anchor, layer.end);
    next = layer.end;
  }
  EXPECT_EQ(next, int(random.graph.nodes.size()));
}

Attributes AlongChannels() {
  Attributes a;
  a.Set("axis", int64_t(1));
  return a;
}

TEST(Layers, AJoinOfWhatSeveralLayersMakeIsOneOfItsOwn) {
  Builder b;
  const ValueId x = b.Input({1, 2, 8, 8}), a = b.Conv(x, 2, 2, 1), c = b.Conv(x, 2, 2, 1),
                joined = b.Op("Relu", {b.Op("Concat", {a, c}, AlongChannels())});
  b.Output(b.Conv(joined, 4, 2, 1));
  InferShapes(b.graph);
  const std::vector<Layer> layers = LayersOf(b.graph);
  ASSERT_EQ(layers.size(), 4u);
  for (size_t l = 0; l < 4; ++l) EXPECT_EQ(layers[l].joins, l == 2) << l;
  EXPECT_EQ(layers[1].end - layers[1].begin, 1);
  EXPECT_EQ(layers[2].end - layers[2].begin, 2);
  EXPECT_EQ(layers[2].name, "Concat2");
  EXPECT_EQ(LiveValues(b.graph, layers)[2], (std::vector{a, c}));
  EXPECT_EQ(LiveValues(b.graph, layers)[3], std::vector{joined});
}

TEST(Layers, OtherConcatenationsAndSumsBelongToTheLayerBefore) {
  Builder b;
  const ValueId x = b.Input({1, 2, 8, 8}), a = b.Conv(x, 2, 2, 1),
                of_one = b.Op("Concat", {a, b.Op("Relu", {a})}, AlongChannels()),
                with_constant = b.Op("Concat", {of_one, b.Weight({1, 2, 8, 8})}, AlongChannels()),
                with_input = b.Op("Concat", {with_constant, x}, AlongChannels()),
                c = b.Conv(with_input, 8, 2, 1);
  b.Output(b.Op("Add", {c, a}));
  InferShapes(b.graph);
  const std::vector<Layer> layers = LayersOf(b.graph);
  ASSERT_EQ(layers.size(), 2u);
  for (const Layer& layer : layers) EXPECT_FALSE(layer.joins);
}

TEST(Layers, AValueIsLiveUntilItsLastReader) {
  Builder b;
  const ValueId x = b.Input({1, 2, 8, 8}), a = b.Conv(x, 2, 2, 1), c = b.Conv(a, 2, 2, 1),
                sum = b.Op("Add", {c, a});
  b.Output(b.Conv(sum, 2, 2, 1));
  InferShapes(b.graph);
  const std::vector<Layer> layers = LayersOf(b.graph);
  const auto live = LiveValues(b.graph, layers);
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(live[0], std::vector{x});
  EXPECT_EQ(live[1], std::vector{a});
  EXPECT_EQ(live[2], std::vector{sum});
  EXPECT_EQ(live[3], b.graph.outputs);
}

}  // namespace
}  // namespace mete
