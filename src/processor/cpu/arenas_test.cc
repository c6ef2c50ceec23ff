#include "processor/cpu/arenas.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "processor/cpu/executor.h"

namespace mete {
namespace {

// The sum of the input and its exponential, which lies in the arena.
Graph Network(int64_t elements) {
  Graph g;
  g.name = "network";
  g.inputs = {g.AddValue("in", DType::kF32, {elements})};
  g.AddValue("middle", DType::kF32, {elements});
  g.outputs = {g.AddValue("out", DType::kF32, {elements})};
  g.AddNode("Exp", "exp", {0}, {1});
  g.AddNode("Add", "add", {1, 0}, {2});
  return g;
}

struct Share {
  explicit Share(int64_t elements) : graph(Network(elements)) {}

  // Returns whether the sum is 1 where the input is 0.
  bool Computes() {
    const int64_t elements = graph.value(0).shape.Elements();
    const Tensor in = Tensor::Floats({elements}, std::vector<float>(size_t(elements)));
    Tensor out(DType::kF32, {elements});
    executor.Run(std::vector{in.view()}, std::vector{out.mutable_view()}, {});
    for (const float value : std::span(out.as<float>(), size_t(elements)))
      if (value != 1) return false;
    return true;
  }

  Graph graph;
  ThreadPlan plan{.steps = std::vector<Step>(graph.nodes.size())};
  CpuKernels kernels{KernelOptions{1}};
  Executor executor{graph, plan, kernels};
};

const void* ArenaOf(const Share& share) { return share.executor.arena().data(); }
int64_t ArenaBytes(const Share& share) { return int64_t(share.executor.arena().bytes()); }

TEST(Arenas, SharesThatRunInTurnUseTheSameOne) {
  const auto arenas = std::make_shared<Arenas>();
  Share small(10), large(1000);
  const std::optional<Arenas::Need> small_need(std::in_place, arenas, small.executor.arena_bytes());
  const std::optional<Arenas::Need> large_need(std::in_place, arenas, large.executor.arena_bytes());
  const void* arena = nullptr;
  for (int run = 0; run < 3; ++run) {
    for (Share* share : {&small, &large}) {
      const Arenas::Loan loan(share == &small ? small_need : large_need, share->executor);
      EXPECT_TRUE(share->Computes());
      if (!arena) arena = ArenaOf(*share);
      EXPECT_EQ(ArenaOf(*share), arena);
      EXPECT_EQ(ArenaBytes(*share), large.executor.arena_bytes());
    }
  }
}

TEST(Arenas, SharesThatRunAtOnceHaveOneEach) {
  const auto arenas = std::make_shared<Arenas>();
  Share first(10), second(10);
  const std::optional<Arenas::Need> need(std::in_place, arenas, first.executor.arena_bytes());
  const void* firsts = nullptr;
  {
    const Arenas::Loan loan(need, first.executor);
    const Arenas::Loan other(need, second.executor);
    EXPECT_TRUE(first.Computes());
    EXPECT_TRUE(second.Computes());
    EXPECT_NE(ArenaOf(first), ArenaOf(second));
    firsts = ArenaOf(first);
  }
  const Arenas::Loan loan(need, second.executor);
  EXPECT_EQ(ArenaOf(second), firsts);  // the arena that came back last
  EXPECT_TRUE(second.Computes());
}

TEST(Arenas, AreAsLargeAsTheLargestShareThatIsReady) {
  const auto arenas = std::make_shared<Arenas>();
  Share small(10), large(1000);
  const std::optional<Arenas::Need> small_need(std::in_place, arenas, small.executor.arena_bytes());
  const auto bytes = [&] {
    const Arenas::Loan loan(small_need, small.executor);
    EXPECT_TRUE(small.Computes());
    return ArenaBytes(small);
  };
  EXPECT_EQ(bytes(), small.executor.arena_bytes());
  {
    const Arenas::Loan lent_before(small_need, small.executor);
    const std::optional<Arenas::Need> large_need(std::in_place, arenas, large.executor.arena_bytes());
    const Arenas::Loan loan(large_need, large.executor);
    EXPECT_EQ(ArenaBytes(large), large.executor.arena_bytes());
    EXPECT_TRUE(large.Computes());
    EXPECT_TRUE(small.Computes());
  }
  EXPECT_EQ(bytes(), small.executor.arena_bytes());
}

TEST(Arenas, AShareThatDoesNotRunHoldsNone) {
  const auto arenas = std::make_shared<Arenas>();
  Share share(10);
  const std::optional<Arenas::Need> need(std::in_place, arenas, share.executor.arena_bytes());
  {
    const Arenas::Loan loan(need, share.executor);
    EXPECT_TRUE(share.executor.arena().has_value());
  }
  EXPECT_FALSE(share.executor.arena().has_value());
}

TEST(Arenas, AnExecutorWithItsOwnKeepsIt) {
  Share share(10);
  const void* own = ArenaOf(share);
  {
    const Arenas::Loan loan(std::nullopt, share.executor);
    EXPECT_TRUE(share.Computes());
  }
  EXPECT_EQ(ArenaOf(share), own);
}

}  // namespace
}  // namespace mete
