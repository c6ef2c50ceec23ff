#include "passes/inline_sequences.h"

#include <gtest/gtest.h>

#include "passes/graphs_testing.h"

namespace mete {
namespace {

std::vector<std::string> Operators(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}
using Names = std::vector<std::string>;

Attributes Ints(std::initializer_list<std::pair<const char*, int64_t>> items) {
  Attributes attributes;
  for (const auto& [name, value] : items) attributes.Set(name, value);
  return attributes;
}

Graph& Folded(Graph& graph) {
  FoldConstants(graph);
  Settle(graph);
  return graph;
}

TEST(InlineSequences, WhatIsInsertedIsJoined) {
  for (const int64_t fresh : {0, 1}) {
    Builder b;
    const ValueId x = b.Input({2, 3}), y = b.Input({2, 3});
    const ValueId list = b.Op("SequenceInsert", {b.Op("SequenceInsert", {b.Op("SequenceEmpty", {}), x}), y});
    // x and y; before the last one of two is the place between them
    const ValueId between = b.Op("SequenceInsert", {list, y, b.Ints({-1})});
    const ValueId shorter =
        b.Op("SequenceErase", {b.Op("SequenceErase", {between, b.Ints({-1})}), b.Ints({0})});
    const ValueId both = b.Op("SequenceInsert", {shorter, x});
    Graph& g = Folded(b.Output(b.Op("ConcatFromSequence", {both}, Ints({{"axis", 1}, {"new_axis", fresh}}))));
    EXPECT_EQ(g.nodes.back().op, "Concat");
    EXPECT_EQ(g.value(g.outputs[0]).shape, (fresh ? Shape{2, 2, 3} : Shape{2, 6}));
    const std::vector<Tensor> in = RandomInputs(g, 1);
    const Tensor out = EvaluateAll(g, in)[size_t(g.outputs[0])];
    EXPECT_EQ(out.as<float>()[0], in[1].as<float>()[0]);  // y, then x
    EXPECT_EQ(out.as<float>()[3], in[0].as<float>()[0]);
  }
}

TEST(InlineSequences, PartsOfASplit) {
  Builder b;
  const ValueId x = b.Input({5, 2});
  const int64_t two = 2;
  const ValueId size = b.graph.AddConstant("size", Tensor::Of<int64_t>(DType::kI64, {}, std::span(&two, 1)));
  const ValueId parts = b.Op("SplitToSequence", {x, size});
  const ValueId rows = b.Op("SplitToSequence", {x}, Ints({{"keepdims", 0}}));
  b.Output(b.Op("SequenceAt", {parts, b.Ints({2})}));
  b.Output(b.Op("SequenceAt", {rows, b.Ints({-2})}));
  Graph& g = Folded(b.Output(b.Op("SequenceLength", {parts})));
  EXPECT_EQ(g.value(g.outputs[0]).shape, (Shape{1, 2}));
  EXPECT_EQ(g.value(g.outputs[1]).shape, Shape{2});
  EXPECT_EQ(*g.value(g.outputs[2]).constant.as<int64_t>(), 3);
  const std::vector<Tensor> in = RandomInputs(g, 1);
  EXPECT_EQ(EvaluateAll(g, in)[size_t(g.outputs[0])].as<float>()[0], in[0].as<float>()[8]);
  EXPECT_EQ(EvaluateAll(g, in)[size_t(g.outputs[1])].as<float>()[1], in[0].as<float>()[7]);
}

TEST(InlineSequences, OptionalValuesAreWhatTheyHave) {
  Builder b;
  const ValueId x = b.Input({2});
  const ValueId some = b.Op("Optional", {x});
  b.Output(b.Op("Relu", {b.Op("OptionalGetElement", {some})}));
  b.Output(b.Op("OptionalHasElement", {some}));
  Graph& g = Folded(b.Output(b.Op("OptionalHasElement", {b.Op("Optional", {})})));
  EXPECT_EQ(g.value(g.outputs[0]).shape, Shape{2});
  EXPECT_EQ(*g.value(g.outputs[1]).constant.as<uint8_t>(), 1);
  EXPECT_EQ(*g.value(g.outputs[2]).constant.as<uint8_t>(), 0);
}

TEST(InlineSequences, ASequenceOfUnknownPlacesStays) {
  Builder b;
  const ValueId x = b.Input({2, 3});
  const ValueId place = b.graph.AddValue("place", DType::kI64, {});
  b.graph.inputs.push_back(place);
  Graph& g = Folded(b.Output(b.Op("SequenceAt", {b.Op("SequenceConstruct", {x, x}), place})));
  EXPECT_EQ(Operators(g), (Names{"SequenceConstruct", "SequenceAt"}));
}

TEST(InlineSequences, SaysWhichPlaceThereIsNone) {
  Builder b;
  const ValueId x = b.Input({2, 3});
  b.Output(b.Op("SequenceAt", {b.Op("SequenceConstruct", {x, x}), b.Ints({2})}));
  try {
    FoldConstants(b.graph);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("out of range; got 2, expected -2 to 1"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace mete
