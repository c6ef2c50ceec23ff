#include "processor/cpu/cpu.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/temp_path_testing.h"
#include "machine/machine.h"

namespace mete {
namespace {

TEST(Cpu, ItsCallerRunsOnTheFastestCore) {
  const std::vector<int> allowed = ReadMachine().affinity.allowed;
  if (allowed.size() < 2) GTEST_SKIP() << "this process may use one core";
  SessionOptions options = SessionOptions::Estimated(2);
  options.cores = {allowed[0], allowed[1]};
  options.speeds = {0.5, 1};
  EXPECT_EQ(Cpu("cpu", options).CallerCore(), allowed[1]);
  options.speeds = {1, 0.5};
  EXPECT_EQ(Cpu("cpu", options).CallerCore(), allowed[0]);
}

TEST(Cpu, ItsCallerIsNotPinnedIfItHasNoCores) {
  EXPECT_EQ(Cpu("cpu", SessionOptions::Estimated(1)).CallerCore(), -1);
}

// All files of the folder, one after the other.
std::string TextOf(const std::string& folder) {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) {
      std::ifstream file(entry.path());
      text.append(std::istreambuf_iterator<char>(file), {});
    }
  return text;
}

// A convolution of 1x1 over rows of a picture.
Graph RowsOf(int64_t rows, const Tensor& weights) {
  Graph graph;
  graph.name = "rows";
  const ValueId x = graph.AddValue("x", DType::kF32, {1, 64, rows, 28}), w = graph.AddConstant("w", weights),
                y = graph.AddValue("y", DType::kF32, {1, 128, rows, 28});
  graph.AddNode("Conv", "conv", {x, w}, {y});
  graph.inputs = {x};
  graph.outputs = {y};
  return graph;
}

TEST(Cpu, SharesOfOneLayerHaveItsPackedWeightsOnce) {
  Cpu cpu("cpu", SessionOptions::Estimated(1));
  const Tensor weights(DType::kF32, {128, 64, 1, 1});
  EXPECT_EQ(cpu.memory().weights_bytes, 0);
  auto whole = cpu.Prepare(RowsOf(28, weights));
  const int64_t bytes = cpu.memory().weights_bytes;
  EXPECT_GE(bytes, int64_t(weights.bytes()));
  auto rows = cpu.Prepare(RowsOf(12, weights));
  EXPECT_EQ(cpu.memory().weights_bytes, bytes);
  EXPECT_GE(rows->memory_bytes(), bytes);
  const auto other = cpu.Prepare(RowsOf(12, Tensor(DType::kF32, {128, 64, 1, 1})));
  EXPECT_EQ(cpu.memory().weights_bytes, 2 * bytes);
  whole = nullptr;
  EXPECT_EQ(cpu.memory().weights_bytes, 2 * bytes) << "the rows need them";
  rows = nullptr;
  EXPECT_EQ(cpu.memory().weights_bytes, bytes);
}

TEST(Cpu, CountsTheArenaThatItsSharesUseInTurn) {
  Cpu cpu("cpu", SessionOptions::Estimated(1));
  Graph graph = RowsOf(28, Tensor(DType::kF32, {128, 64, 1, 1}));
  const ValueId z = graph.AddValue("z", DType::kF32, {1, 128, 28, 28});
  graph.AddNode("Softmax", "softmax", {graph.outputs[0]}, {z});
  graph.outputs = {z};
  const auto first = cpu.Prepare(graph), second = cpu.Prepare(graph);
  const Tensor input(DType::kF32, {1, 64, 28, 28});
  (void)first->Run({&input, 1}, {});
  const int64_t bytes = cpu.memory().values_bytes;
  EXPECT_GE(bytes, 128 * 28 * 28 * 4);
  (void)second->Run({&input, 1}, {});
  EXPECT_EQ(cpu.memory().values_bytes, bytes);
}

Graph SmallConv() {
  Graph graph;
  graph.name = "small";
  const ValueId x = graph.AddValue("x", DType::kF32, {1, 16, 8, 8}),
                w = graph.AddConstant("w", Tensor(DType::kF32, {16, 16, 3, 3})),
                y = graph.AddValue("y", DType::kF32, {1, 16, 6, 6});
  graph.AddNode("Conv", "conv", {x, w}, {y});
  graph.inputs = {x};
  graph.outputs = {y};
  return graph;
}

TEST(Cpu, KernelsOfAShareAreMeasuredWithItsWeightsWhereTheyAreInTheWholeModel) {
  for (const bool large : {false, true}) {
    SCOPED_TRACE(large);
    const TempPath cache;
    SessionOptions options;
    options.threads = 1;
    options.tuning_cache = cache.str();
    options.profile_cache = "";
    Graph share = SmallConv();
    if (large) share.other_constant_bytes = int64_t(1) << 40;
    (void)Cpu("cpu", options).Prepare(share);
    const std::string times = TextOf(cache.str());
    EXPECT_EQ(times.find("weights near") != std::string::npos, !large) << times;
    EXPECT_EQ(times.find("weights far") != std::string::npos, large) << times;
  }
}

TEST(Cpu, AShareThatIsReadySoonMeasuresItsKernelsLater) {
  const TempPath cache;
  SessionOptions options;
  options.threads = 1;
  options.tuning_cache = cache.str();
  options.profile_cache = "";
  options.tune = Tune::kBefore;
  Cpu cpu("cpu", options);
  const Graph share = SmallConv();
  const std::vector<Tensor> inputs{Tensor(DType::kF32, {1, 16, 8, 8})};
  const auto soon = cpu.PrepareSoon(share);
  EXPECT_FALSE(std::filesystem::exists(cache.str()));
  (void)soon->Run(inputs, {});
  int steps = 0;
  while (soon->MeasureFor(0)) ++steps;
  EXPECT_GT(steps, 4);  // each candidate is called four times at least
  EXPECT_FALSE(soon->MeasureFor(0));
  EXPECT_NE(TextOf(cache.str()), "");
  (void)soon->Run(inputs, {});
  const auto again = cpu.PrepareSoon(share);
  EXPECT_FALSE(again->MeasureFor(0));  // all times are known
}

}  // namespace
}  // namespace mete
