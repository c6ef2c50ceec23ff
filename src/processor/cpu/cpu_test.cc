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
