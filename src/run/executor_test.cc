#include "run/executor.h"

#include <gtest/gtest.h>

#include "run/slices_testing.h"

namespace mete {
namespace {

// Of several threads, the steps use all of them, one, two, all, ...
int StepThreads(const CpuOptions& options, size_t step) {
  return step % 3 == 0 ? options.threads : std::min(int(step % 3), options.threads);
}

std::vector<Tensor> Outputs(const Graph& graph, const CpuOptions& options, const RunOptions& run = {}, Policy::Times* times = nullptr) {
  Verify(graph);
  Cpu cpu(options);
  Plan plan;
  plan.steps.resize(graph.nodes.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) plan.steps[i].threads = StepThreads(options, i);
  Executor executor(graph, plan, cpu);
  Tensor input(DType::kF32, graph.value(graph.inputs[0]).shape);
  for (int64_t i = 0; i < input.elements(); ++i) input.mutable_view().as<float>()[i] = float(i % 23 - 11) * 0.1f;
  std::vector<Tensor> results;
  std::vector<View> out;
  for (ValueId id : graph.outputs) results.emplace_back(graph.value(id).type, graph.value(id).shape);
  for (Tensor& t : results) out.push_back(t.mutable_view());
  for (int i = 0; i < 2; ++i) executor.Run(std::vector{input.view()}, out, run);
  if (times) *times = cpu.pool().TakeTimes();
  return results;
}

// With the concatenation in the arena, where the Relu overwrites it, and in the caller's memory.
TEST(Executor, SlicesOfAConcatenationGiveWhatTheirConcatGives) {
  for (const bool reference : {false, true})
    for (const bool is_output : {false, true})
      for (const int threads : {1, 2, 3}) {
        SCOPED_TRACE(testing::Message() << "reference " << reference << ", output " << is_output << ", threads " << threads);
        Graph in_place = SlicesNet(), joined = SlicesNet(false);
        if (!is_output) in_place.outputs.pop_back(), joined.outputs.pop_back();
        const auto got = Outputs(in_place, {threads, {}, reference}), want = Outputs(joined, {threads, {}, reference});
        for (size_t o = 0; o < want.size(); ++o)
          for (int64_t i = 0; i < want[o].elements(); ++i)
            ASSERT_EQ(got[o].as<float>()[i], want[o].as<float>()[i]) << "output " << o << " element " << i;
      }
}

// What a policy learns of is what several threads compute.
TEST(Executor, ARunOfTheCallerAloneGivesTheSameWithoutTheOthers) {
  const Graph graph = SlicesNet();
  CpuOptions options{3};
  options.policy = "adaptive";
  Policy::Times together, alone;
  const auto want = Outputs(graph, options, {.alone = RunOptions::Alone::kNever}, &together);
  const auto got = Outputs(graph, options, {.alone = RunOptions::Alone::kAlways}, &alone);
  EXPECT_GT(together.together_ns, 0);
  EXPECT_EQ(alone.together_ns, 0);
  for (size_t o = 0; o < want.size(); ++o)
    for (int64_t i = 0; i < want[o].elements(); ++i) ASSERT_EQ(got[o].as<float>()[i], want[o].as<float>()[i]) << o << " " << i;
}

}  // namespace
}  // namespace mete
