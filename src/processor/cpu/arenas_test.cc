#include "processor/cpu/arenas.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

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

TEST(Arenas, SharesThatRunInTurnUseTheSameOne) {
  Arenas arenas;
  Share small(10), large(1000);
  for (Share* share : {&small, &large}) arenas.Reserve(share->executor.arena_bytes());
  const void* arena = nullptr;
  for (int run = 0; run < 2; ++run)
    for (Share* share : {&small, &large}) {
      const Arenas::Loan loan(&arenas, share->executor);
      EXPECT_TRUE(share->Computes());
      EXPECT_EQ(share->executor.arena().data(), arena ? arena : share->executor.arena().data());
      arena = share->executor.arena().data();
      EXPECT_EQ(int64_t(share->executor.arena().bytes()), large.executor.arena_bytes());
    }
}

TEST(Arenas, SharesThatRunAtOnceHaveOneEach) {
  Arenas arenas;
  Share first(10), second(10);
  arenas.Reserve(first.executor.arena_bytes());
  const void *firsts = nullptr, *seconds = nullptr;
  {
    const Arenas::Loan loan(&arenas, first.executor);
    {
      const Arenas::Loan other(&arenas, second.executor);
      EXPECT_TRUE(first.Computes());
      EXPECT_TRUE(second.Computes());
      firsts = first.executor.arena().data();
      seconds = second.executor.arena().data();
    }
  }
  EXPECT_NE(firsts, seconds);
  // The one that came back last is the next one.
  const Arenas::Loan loan(&arenas, second.executor);
  EXPECT_EQ(second.executor.arena().data(), firsts);
}

TEST(Arenas, AShareThatNeedsMoreReplacesThem) {
  Arenas arenas;
  Share small(10), large(1000);
  arenas.Reserve(small.executor.arena_bytes());
  {
    const Arenas::Loan loan(&arenas, small.executor);
    arenas.Reserve(large.executor.arena_bytes());
    EXPECT_TRUE(small.Computes());
  }
  const Arenas::Loan loan(&arenas, large.executor);
  EXPECT_GE(int64_t(large.executor.arena().bytes()), large.executor.arena_bytes());
  EXPECT_TRUE(large.Computes());
}

TEST(Arenas, AnExecutorWithItsOwnKeepsIt) {
  Share share(10);
  const void* own = share.executor.arena().data();
  const Arenas::Loan loan(nullptr, share.executor);
  EXPECT_EQ(share.executor.arena().data(), own);
}

}  // namespace
}  // namespace mete
