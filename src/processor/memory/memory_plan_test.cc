#include "processor/memory/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "processor/memory/slices_testing.h"

namespace mete {
namespace {

TEST(Place, SharesBytesBetweenDisjointLifetimes) {
  const ArenaPlacement p = Place({{128, 0, 1}, {128, 2, 3}, {64, 1, 2}});
  EXPECT_EQ(p.total, 192);
  EXPECT_EQ(p.offsets[0], p.offsets[1]);
}

TEST(Place, NeverOverlapsValuesThatLiveAtTheSameTime) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<Lifetime> lives;
    for (int i = 0; i < 40; ++i) {
      const int first = int(random() % 30);
      lives.push_back({int64_t(random() % 5000), first, first + int(random() % 6)});
    }
    const ArenaPlacement p = Place(lives);
    for (size_t a = 0; a < lives.size(); ++a) {
      EXPECT_EQ(p.offsets[a] % 64, 0);
      EXPECT_LE(p.offsets[a] + lives[a].bytes, p.total);
      for (size_t b = 0; b < a; ++b) {
        if (lives[a].last < lives[b].first || lives[b].last < lives[a].first) continue;
        EXPECT_TRUE(p.offsets[a] + lives[a].bytes <= p.offsets[b] ||
                    p.offsets[b] + lives[b].bytes <= p.offsets[a]);
      }
    }
  }
}

TEST(Place, OffsetsAreMultiplesOfTheAlignment) {
  const ArenaPlacement p = Place({{130, 0, 1}, {4, 0, 1}, {1, 1, 1}}, 256);
  EXPECT_EQ(p.offsets, (std::vector<int64_t>{0, 256, 512}));
  EXPECT_EQ(p.total, 768);
}

Graph Chain(const std::vector<std::string>& ops) {
  Graph g;
  ValueId at = g.AddValue("in", DType::kF32, {4, 8});
  g.inputs = {at};
  for (size_t i = 0; i < ops.size(); ++i) {
    const ValueId out = g.AddValue("v" + std::to_string(i), DType::kF32, {4, 8});
    g.AddNode(ops[i], "n" + std::to_string(i), {at}, {out});
    at = out;
  }
  g.outputs = {at};
  return g;
}

TEST(PlanMemory, ViewsShareTheirInputAndAreNotComputed) {
  const Graph g = Chain({"Exp", "Flatten", "Softmax", "Exp"});
  const MemoryPlan plan = PlanMemory(g);
  EXPECT_TRUE(plan.is_view[1]);
  EXPECT_EQ(plan.where[1], plan.where[2]);
}

TEST(PlanMemory, ATransposeThatMovesOnlyOnesIsAView) {
  for (const int64_t tokens : {1, 3}) {
    Graph g = Chain({"Exp", "Transpose", "Softmax"});
    g.nodes[1].attributes.Set("perm", Ints{0, 2, 1});
    for (const ValueId id : {0, 1}) g.value(id).shape = Shape{2, tokens, 8};
    for (const ValueId id : {2, 3}) g.value(id).shape = Shape{2, 8, tokens};
    const MemoryPlan plan = PlanMemory(g);
    EXPECT_EQ(bool(plan.is_view[1]), tokens == 1);
    EXPECT_EQ(plan.where[1] == plan.where[2], tokens == 1);
  }
}

TEST(PlanMemory, ElementwiseOverwritesAnInputThatDies) {
  const Graph g = Chain({"Softmax", "Exp", "Relu", "Softmax"});
  const MemoryPlan plan = PlanMemory(g);
  EXPECT_EQ(plan.arena_bytes, 128);
  EXPECT_EQ(plan.unshared_bytes, 3 * 128);
}

TEST(PlanMemory, KeepsAnInputThatIsReadLater) {
  Graph g = Chain({"Softmax", "Exp", "Softmax"});
  const ValueId sum = g.AddValue("sum", DType::kF32, {4, 8});
  g.AddNode("Add", "add", {1, 3}, {sum});
  g.outputs = {sum};
  const MemoryPlan plan = PlanMemory(g);
  EXPECT_NE(plan.where[1], plan.where[2]);
}

TEST(PlanMemory, NeverOverwritesTheCallersInput) {
  const Graph g = Chain({"Relu", "Softmax"});
  const MemoryPlan plan = PlanMemory(g);
  EXPECT_EQ(plan.home[0], Home::kInput);
  EXPECT_EQ(plan.home[1], Home::kArena);
}

TEST(PlanMemory, AViewOfAnOutputReadsTheCallersMemory) {
  Graph g = Chain({"Softmax", "Flatten", "Exp"});
  g.outputs.push_back(1);
  const MemoryPlan plan = PlanMemory(g);
  EXPECT_EQ(plan.home[1], Home::kOutput);
  EXPECT_TRUE(plan.is_view[1]);
  EXPECT_EQ(plan.home[2], Home::kOutput);
}

TEST(PlanMemory, SlicesOfAConcatenationShareItsMemory) {
  Graph g = SlicesNet();
  g.outputs = {9};
  Verify(g);
  const MemoryPlan plan = PlanMemory(g);
  for (ValueId v : {5, 6, 7, 8}) {  // and the Relu overwrites what dies there
    EXPECT_EQ(plan.home[size_t(v)], Home::kArena) << v;
    EXPECT_EQ(plan.where[size_t(v)], plan.where[5]) << v;
  }
  // alive between the slices
  EXPECT_TRUE(plan.where[4] >= plan.where[5] + 2048 || plan.where[4] + 512 <= plan.where[5]);
  EXPECT_EQ(plan.arena_bytes, 2048 + 512);
  EXPECT_EQ(std::count(plan.is_view.begin(), plan.is_view.end(), 1), 0);
}

TEST(PlanMemory, AConcatenationThatIsReadLaterIsNotOverwritten) {
  Graph g = SlicesNet();
  const ValueId sum = g.AddValue("sum", DType::kF32, {1, 4, 4, 32});
  g.AddNode("Add", "add", {7, 9}, {sum});
  g.outputs = {sum};
  const MemoryPlan plan = PlanMemory(g);
  EXPECT_EQ(plan.where[5], plan.where[7]);
  EXPECT_NE(plan.where[8], plan.where[7]);
  EXPECT_NE(plan.where[9], plan.where[7]);
}

TEST(PlanMemory, SlicesOfAnOutputGoToTheCaller) {
  const Graph g = SlicesNet();
  Verify(g);
  const MemoryPlan plan = PlanMemory(g);
  for (ValueId v : {5, 6, 7}) {
    EXPECT_EQ(plan.home[size_t(v)], Home::kOutput) << v;
    EXPECT_EQ(plan.where[size_t(v)], 1) << v;
  }
  EXPECT_EQ(plan.home[8], Home::kArena);
}

}  // namespace
}  // namespace mete
