// One GPU in f32 and in f16: both processors use one context, and a session's plan has each where it is
// sooner.
#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "machine/gpu_entry.h"
#include "passes/graphs_testing.h"
#include "plan/pool/dynamic.h"
#include "processor/cpu/cpu_testing.h"
#include "processor/opencl/api/device_testing.h"
#include "processor/opencl/gpu/gpu_processor.h"
#include "processor/opencl/share/compare_testing.h"
#include "run/local_member.h"
#include "run/pool_session.h"

namespace mete::opencl {
namespace {

Graph FourConvolutions() {
  Builder b;
  ValueId x = b.Input({1, 8, 12, 12});
  for (int i = 0; i < 4; ++i) x = b.Op("Relu", {b.Conv(x, i == 0 ? 8 : 16, 16, 3, {1, 1, 1, 1})});
  b.Output(x);
  InferShapes(b.graph);
  return b.graph;
}

class GpuInTwoTypes : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (IsSkipped()) return;
    ProbeFacts proved;
    proved.shares_memory = device().facts().has_fine_svm;
    f32 = std::make_shared<GpuProcessor>("gpu:0", device(), proved,
                                         GpuProcessorOptions{.kernels_folder = folder.str()});
    f16 = std::make_shared<GpuProcessor>(
        "gpu:0:f16", device(), proved,
        GpuProcessorOptions{.storage = DType::kF16, .kernels_folder = folder.str()}, f32->in_use());
    inputs = RandomInputs(graph, 1);
    const std::vector<Tensor> values = EvaluateAll(graph, inputs);
    expected = {values[size_t(graph.outputs[0])]};
    for (const Node& node : graph.nodes) {
      const Tolerance of_node = ToleranceOfNode(TermsOf(graph, node), LargestOf(values));
      tolerance.f32 += of_node.f32;
      tolerance.f16 += of_node.f16;
    }
  }

  // Costs are made up: the CPU takes long, and a type is slow in its layers.
  PoolCosts Costs(std::set<size_t> slow_in_f32, std::set<size_t> slow_in_f16) const {
    PoolCosts costs;
    const size_t layers = LayersOf(graph).size();
    for (const char* name : {"cpu", "gpu:0", "gpu:0:f16"})
      costs.processors.push_back({name, {1, 1, 1e5, 1e5}, std::vector<LayerCost>(layers, {1e4, 1e4})});
    for (size_t l = 0; l < layers; ++l) {
      costs.processors[1].layers[l] = slow_in_f32.contains(l) ? LayerCost{900, 900} : LayerCost{300, 300};
      costs.processors[2].layers[l] = slow_in_f16.contains(l) ? LayerCost{900, 900} : LayerCost{300, 300};
    }
    costs.processors[1].unit = costs.processors[2].unit = "here/gpu:0";
    return costs;
  }

  const Graph graph = FourConvolutions();
  std::vector<Tensor> inputs, expected;
  Tolerance tolerance;
  const TempPath folder;
  std::shared_ptr<GpuProcessor> f32, f16;
};

TEST_F(GpuInTwoTypes, HasOneContextWhoseTensorsBothUseWhereTheyLie) {
  const auto in_f32 = f32->Prepare(graph), in_f16 = f16->Prepare(graph);
  EXPECT_NE(f32->info().description, f16->info().description);
  ExpectNear(expected, in_f32->Run(inputs, {}), tolerance.f32);
  ExpectNear(expected, in_f16->Run(inputs, {}), tolerance.f16);
  EXPECT_EQ(f32->in_use(), f16->in_use());
  const MakeTensor make = f32->SharedMemory();
  EXPECT_EQ(make != nullptr, f16->SharedMemory() != nullptr);
  if (!make) GTEST_SKIP() << "the device has no memory that both sides see without a map";
  Tensor in = make(inputs[0].type(), inputs[0].shape()), out = make(expected[0].type(), expected[0].shape());
  std::memcpy(in.mutable_view().data, inputs[0].data(), inputs[0].bytes());
  // Fresh shares have memory of their own for inputs that they copy alone.
  const auto fresh = f16->Prepare(graph);
  const int64_t bytes = fresh->memory_bytes();
  fresh->Ready::Run(std::array{in.view()}, std::array{out.mutable_view()}, {});
  ExpectNear(expected, {out}, tolerance.f16);
  EXPECT_EQ(fresh->memory_bytes(), bytes) << "a tensor of the other type's memory was copied";
}

// A probe that ran out of time has not proved of one of them that memory is shared.
TEST_F(GpuInTwoTypes, ATensorIsThereWhereTheOtherTypeOpenedTheDeviceWithoutSharedMemory) {
  ProbeFacts shares, maps;
  shares.shares_memory = true;
  GpuProcessor first("gpu:0", device(), maps, {.kernels_folder = folder.str()});
  GpuProcessor second("gpu:0:f16", device(), shares, {.storage = DType::kF16, .kernels_folder = folder.str()},
                      first.in_use());
  first.CheckThere();
  second.CheckThere();
  const MakeTensor make = second.SharedMemory();
  ASSERT_TRUE(make);
  EXPECT_EQ(make(DType::kF32, {2, 3}).bytes(), 24u);
}

TEST_F(GpuInTwoTypes, NameThemselvesInTracesAndErrors) {
  CancelToken cancelled;
  cancelled.Cancel();
  for (GpuProcessor* const gpu : {f32.get(), f16.get()}) {
    const auto share = gpu->Prepare(graph);
    Trace trace;
    (void)share->Run(inputs, {.trace = &trace});
    EXPECT_EQ(trace.lanes, std::vector{gpu->info().name});
    EXPECT_TELLS((void)share->Run(inputs, {.cancel = &cancelled}), "[" + gpu->info().name + "]");
  }
}

TEST_F(GpuInTwoTypes, GivesTheBitsOfEitherAloneWhateverComesBetween) {
  const auto in_f32 = f32->Prepare(graph), in_f16 = f16->Prepare(graph);
  const Tensor first = in_f32->Run(inputs, {})[0], half = in_f16->Run(inputs, {})[0];
  for (int run = 0; run < 3; ++run) {  // both use one arena in turn
    const Tensor again = in_f32->Run(inputs, {})[0], half_again = in_f16->Run(inputs, {})[0];
    EXPECT_EQ(std::memcmp(first.data(), again.data(), first.bytes()), 0);
    EXPECT_EQ(std::memcmp(half.data(), half_again.data(), half.bytes()), 0);
  }
  EXPECT_NE(std::memcmp(first.data(), half.data(), first.bytes()), 0) << "f16 rounds nothing";
}

TEST_F(GpuInTwoTypes, ASessionComputesEachGroupInTheTypeOfItsPlan) {
  const PoolCosts costs = Costs(/*slow_in_f32=*/{0, 1}, /*slow_in_f16=*/{2, 3});
  const Plan plan = PlanPool(graph, costs);
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(plan.groups[0].shares.at(0).processor, 2);
  EXPECT_EQ(plan.groups[1].shares.at(0).processor, 1);
  std::vector<std::unique_ptr<Member>> members(3);
  members[1] = std::make_unique<LocalMember>(f32);
  members[2] = std::make_unique<LocalMember>(f16);
  PoolSessionOptions options;
  options.trial = options.remake = false;
  PoolSession session(graph, costs, std::make_shared<Cpu>("cpu", ReferenceOptions()), std::move(members),
                      options);
  session.AwaitFirstPlan();
  EXPECT_EQ(UsedProcessors(session.plan()), (std::set<int>{1, 2}));
  for (int run = 0; run < 3; ++run) {
    RequestReport report;
    ExpectNear(expected, session.Run(inputs, &report), tolerance.f16);
    EXPECT_FALSE(report.alone);
  }
}

TEST(MakeGpuInTwoTypes, SharesTheDeviceOfTheSamePoolAlone) {
  const PoolFile pool = PoolOfList("cpu:0,gpu:0/1,gpu:0/1:f16,gpu:0:f16");
  std::vector<std::shared_ptr<Processor>> made;
  for (size_t p = 1; p < 4; ++p)
    made.push_back(MakeGpu(pool.devices[0].processors[p], SessionOptions::Estimated(), made));
  const auto in_use = [&](size_t p) { return dynamic_cast<GpuProcessor&>(*made[p]).in_use(); };
  EXPECT_EQ(in_use(0), in_use(1));
  EXPECT_NE(in_use(0), in_use(2));
  const auto other = MakeGpu(pool.devices[0].processors[2], SessionOptions::Estimated());
  EXPECT_NE(dynamic_cast<GpuProcessor&>(*other).in_use(), in_use(0));
}

}  // namespace
}  // namespace mete::opencl
