// Graphs at other sizes: the walk gives what the passes give at those sizes, and where passes decide by a
// size, they run again.
#include "passes/shaped_graphs.h"

#include <gtest/gtest.h>

#include "passes/graphs_testing.h"
#include "passes/pass.h"

namespace mete {
namespace {

Attributes With(const std::string& name, Attribute value) {
  Attributes a;
  a.Set(name, std::move(value));
  return a;
}

// A model with its graph after the passes at the sizes that it was made for.
struct Made {
  Made(Graph graph, OpenDims dims) : imported(std::move(graph)), fixed(imported) {
    (void)RunPasses(fixed);
    graphs.emplace(imported, fixed, std::move(dims), PassChoice{});
  }
  Graph imported, fixed;
  std::optional<ShapedGraphs> graphs;
};

// Checks that the graph at these shapes computes what the unchanged nodes compute.
void ExpectAt(Made& made, const std::vector<Shape>& shapes) {
  Graph plain = made.imported;
  for (size_t i = 0; i < shapes.size(); ++i) plain.value(plain.inputs[i]).shape = shapes[i];
  FoldConstants(plain);
  Settle(plain);
  const Graph shaped = *made.graphs->At(shapes).graph;
  Verify(shaped);
  const std::vector<Tensor> want = Evaluate(plain), got = Evaluate(shaped);
  ASSERT_EQ(got.size(), want.size());
  for (size_t o = 0; o < want.size(); ++o) {
    ASSERT_EQ(got[o].shape(), want[o].shape());
    for (int64_t i = 0; i < want[o].elements(); ++i)
      ASSERT_NEAR(got[o].as<float>()[i], want[o].as<float>()[i], 1e-4) << "output " << o << " element " << i;
  }
}

// x -> Reshape to (length x batch, 6), by the sizes of x -> product -> back
Graph ReshapedByShape() {
  Builder b;
  const ValueId x = b.Input({2, 5, 6});
  const ValueId shape = b.Op("Shape", {x});
  const ValueId batch = b.Op("Gather", {shape, b.Ints({0})}), length = b.Op("Gather", {shape, b.Ints({1})});
  const ValueId rows = b.Op("Mul", {batch, length});
  const ValueId flat = b.Op("Reshape", {x, b.Op("Concat", {rows, b.Ints({6})}, With("axis", int64_t{0}))});
  const ValueId y = b.Op("Relu", {b.Op("MatMul", {flat, b.Weight({6, 4})})});
  const ValueId back = b.Op("Concat", {batch, length, b.Ints({4})}, With("axis", int64_t{0}));
  return b.Output(b.Op("Reshape", {y, back}));
}

TEST(ShapedGraphs, FollowShapeArithmetic) {
  Made made(ReshapedByShape(), {{0, 1, kFixed}});
  for (const Shape& shape : {Shape{2, 7, 6}, {1, 5, 6}, {3, 1, 6}, {2, 5, 6}, {4, 64, 6}}) {
    SCOPED_TRACE(ToString(shape));
    ExpectAt(made, {shape});
  }
  EXPECT_EQ(made.graphs->note(), "");
  EXPECT_EQ(made.graphs->passes_run(), 4) << "for the length, then for the batch too";
}

TEST(ShapedGraphs, KeepWhatThePassesHaveFused) {
  Builder b;
  const ValueId x = b.Input({1, 3, 12, 12});
  const ValueId conv = b.BatchNorm(b.Conv(x, 3, 8, 3, {1, 1, 1, 1}), 8);
  const ValueId sum = b.Op("Add", {b.Conv(b.Op("Relu", {conv}), 8, 8, 1), conv});
  Made made(b.Output(b.Op("GlobalAveragePool", {b.Op("Relu", {sum})})), {{0, kFixed, 1, 2}});
  for (const Shape& shape : {Shape{4, 3, 12, 12}, {1, 3, 9, 20}, {2, 3, 1, 1}}) {
    SCOPED_TRACE(ToString(shape));
    ExpectAt(made, {shape});
    const Graph& graph = *made.graphs->At(std::vector{shape}).graph;
    EXPECT_EQ(CountOf(graph, "BatchNormalization") + CountOf(graph, "Add") + CountOf(graph, "Relu"), 0);
    for (const Value& value : graph.values)
      if (value.is_constant() && value.shape == Shape{8, 3, 3, 3}) {
        const Value* shared = nullptr;
        for (const Value& own : made.fixed.values)
          if (own.is_constant() && own.constant.data() == value.constant.data()) shared = &own;
        EXPECT_TRUE(shared) << "the folded weights are in memory twice";
      }
  }
  EXPECT_EQ(made.graphs->note(), "");
}

// The channel shuffle gets Reshapes with sizes from the pass layout.
TEST(ShapedGraphs, OpenTheSizesThatPassesWrite) {
  Builder b;
  const ValueId x = b.Conv(b.Input({1, 3, 8, 8}), 3, 6, 1);
  const ValueId shape = b.Op("Shape", {x});
  const auto dim = [&](int64_t i) { return b.Op("Gather", {shape, b.Ints({i})}); };
  const auto to = [&](std::vector<ValueId> parts) {
    return b.Op("Concat", std::move(parts), With("axis", int64_t{0}));
  };
  const ValueId wide = b.Op("Reshape", {x, to({dim(0), b.Ints({2, 3}), dim(2), dim(3)})});
  const ValueId swapped = b.Op("Transpose", {wide}, With("perm", Ints{0, 2, 1, 3, 4}));
  const ValueId joined = b.Op("Reshape", {swapped, to({dim(0), b.Ints({6}), dim(2), dim(3)})});
  Made made(b.Output(b.Conv(joined, 6, 4, 1)), {{0, kFixed, 1, 2}});
  for (const Shape& shape : {Shape{1, 3, 8, 9}, {3, 3, 4, 8}, {1, 3, 1, 1}}) ExpectAt(made, {shape});
  EXPECT_EQ(made.graphs->note(), "");
}

// max(0, 8 - length) rows of padding: none at large sizes, where a pass would remove the Pad.
TEST(ShapedGraphs, PassesDoNotReadWhatDependsOnSizes) {
  Builder b;
  const ValueId x = b.Input({9, 3});
  const ValueId length = b.Op("Gather", {b.Op("Shape", {x}), b.Ints({0})});
  const ValueId missing = b.Op("Max", {b.Op("Sub", {b.Ints({8}), length}), b.Ints({0})});
  const ValueId pads = b.Op("Concat", {b.Ints({0, 0}), missing, b.Ints({0})}, With("axis", int64_t{0}));
  Made made(b.Output(b.Op("Relu", {b.Op("Pad", {x, pads})})), {{0, kFixed}});
  for (const int64_t length : {12, 8, 5, 1, 100}) ExpectAt(made, {Shape{length, 3}});
  EXPECT_EQ(made.graphs->note(), "");
}

// max(1, 8 / length) times the rows: once at large sizes, where a pass would remove the Tile. A length of 1
// is broadcast to max(8, length) rows, where a pass would remove the Expand.
TEST(ShapedGraphs, KeepNodesThatChangeNothingAtSomeSizesOnly) {
  Builder b;
  const ValueId x = b.Input({9, 3});
  const ValueId length = b.Op("Gather", {b.Op("Shape", {x}), b.Ints({0})});
  const ValueId times = b.Op("Max", {b.Op("Div", {b.Ints({8}), length}), b.Ints({1})});
  const auto with_rows = [&](ValueId rows, int64_t columns) {
    return b.Op("Concat", {rows, b.Ints({columns})}, With("axis", int64_t{0}));
  };
  b.Output(b.Op("Relu", {b.Op("Tile", {x, with_rows(times, 1)})}));
  const ValueId rows = b.Op("Max", {length, b.Ints({8})});
  Made made(b.Output(b.Op("Exp", {b.Op("Expand", {x, with_rows(rows, 3)})})), {{0, kFixed}});
  for (const int64_t length : {12, 8, 1, 100}) ExpectAt(made, {Shape{length, 3}});
  EXPECT_EQ(made.graphs->note(), "");
}

// A Reshape of (rows, 4) to (-1, 8) exists for even numbers of rows only.
TEST(ShapedGraphs, MakeUpSizesThatTheModelTakes) {
  Builder b;
  const ValueId pairs = b.Op("Reshape", {b.Input({6, 4}), b.Ints({-1, 8})});
  Made made(b.Output(b.Op("MatMul", {pairs, b.Weight({8, 3})})), {{0, kFixed}});
  for (const int64_t rows : {2, 10, 64}) ExpectAt(made, {Shape{rows, 4}});
  EXPECT_EQ(made.graphs->note(), "");
  try {
    made.graphs->At(std::vector{Shape{3, 4}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("[Reshape0]"), std::string::npos) << e.what();
  }
  ExpectAt(made, {Shape{4, 4}});  // also after an error
}

// Where the rows are few, their number decides what is folded: the broadcast of a weight of 7 rows.
TEST(ShapedGraphs, RunThePassesAgainWhereTheyDecideBySizes) {
  Builder b;
  const ValueId x = b.Input({7, 4});
  Made made(b.Output(b.Op("Add", {x, b.Weight({7, 4})})), {{0, kFixed}});
  ExpectAt(made, {Shape{1, 4}});
  EXPECT_NE(made.graphs->note().find("the passes run for each shape"), std::string::npos)
      << made.graphs->note();
  EXPECT_NE(made.graphs->note().find("[Add0]"), std::string::npos) << made.graphs->note();
  const int64_t before = made.graphs->passes_run();
  ExpectAt(made, {Shape{1, 4}});
  EXPECT_EQ(made.graphs->passes_run(), before + 1);
}

TEST(ShapedGraphs, SayWhatHasChangedSinceTheLastShape) {
  Builder b;
  const ValueId x = b.Input({2, 6}), y = b.Input({3, 6});
  b.Output(b.Op("Relu", {x}));
  Made made(b.Output(b.Op("Relu", {y})), {{0, kFixed}, {1, kFixed}});
  made.graphs->At(std::vector{Shape{4, 6}, Shape{5, 6}});
  const auto shaped = made.graphs->At(std::vector{Shape{4, 6}, Shape{7, 6}});
  ASSERT_TRUE(shaped.walk);
  ASSERT_EQ(shaped.graph->nodes.size(), 2u);
  for (size_t n = 0; n < 2; ++n)
    EXPECT_EQ(bool(shaped.walk->changed()[n]), shaped.graph->nodes[n].inputs[0] == shaped.graph->inputs[1]);
}

}  // namespace
}  // namespace mete
