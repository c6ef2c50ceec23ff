#include "profile/starts/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "mete/engine.h"
#include "profile/starts/process.h"
#include "profile/starts/stored_starts.h"

namespace mete {
namespace {

TEST(StepsOf, AreBetweenTheTimesOfTheGreeting) {
  const StartSteps steps = StepsOf(
      "mete: note: weights are random\n"
      R"({"engine": "mete", "ready_ns": 3000000, "read_ns": 5000000, "loaded_ns": 9000000, "answered_ns": 17000000})"
      "\nmete: note: later\n",
      2000000);
  EXPECT_EQ(steps, (StartSteps{1, 2, 4, 8}));
  EXPECT_EQ(steps.ms(), 15);
}

TEST(StepsOf, AProcessThatDoesNotGreetSaysWhy) {
  EXPECT_TELLS(StepsOf("mete: error: [net.onnx] no model\n", 0), "got 'mete: error: [net.onnx] no model'");
  EXPECT_TELLS(StepsOf("", 0), "did not answer");
  EXPECT_TELLS(StepsOf("{\"ns\": [1]}\n", 0), "did not answer");
  const char* backwards = R"({"ready_ns": 3, "read_ns": 2, "loaded_ns": 9, "answered_ns": 17})";
  EXPECT_TELLS(StepsOf(std::string(backwards) + "\n", 1), "read_ns is out of range; got 2");
}

TEST(CostOf, HasMediansOfTheSumAndOfEachStep) {
  const StartCost cost = CostOf({{1, 2, 3, 4}, {2, 2, 2, 2}, {3, 1, 1, 100}});
  EXPECT_EQ(cost.ms, 10);
  EXPECT_EQ(cost.mad_ms, 2);
  EXPECT_EQ(cost.starts, 3);
  EXPECT_EQ(cost.steps, (StartSteps{2, 2, 2, 4}));
}

TEST(CostsOf, AStateWhoseStartsWereRefusedIsNotThere) {
  StartsMeasured measured;
  measured.states = {{.name = "killed", .starts = {{1, 2, 3, 4}}},
                     {.name = "resident", .starts = {{0, 0, 0, 4}}},
                     {.name = "cold", .refused = 1, .why_refused = "net.onnx has 1 of 2 pages in memory"}};
  const StartCosts costs = CostsOf(measured);
  EXPECT_EQ(costs.killed.ms, 10);
  EXPECT_EQ(costs.resident.ms, 4);
  EXPECT_FALSE(costs.cold || costs.evicted || costs.first || costs.without_weights);
}

TEST(FileGroup, AddsUp) {
  const FileGroup group{"model", {{"a", 10, 3}, {"b", 5, 5}}};
  EXPECT_EQ(group.pages(), 15);
  EXPECT_EQ(group.in_memory(), 8);
}

class StoredStarts : public testing::Test {
 protected:
  StoredStarts() { std::ofstream(model_.str()) << "a model"; }

  std::string Path(const ProfileKey& key, const std::vector<std::string>& settings) const {
    return StartCostsPath(cache_.str(), key, {model_.str()}, settings);
  }

  const ProfileKey key_{"A CPU", "avx2", "0.1", "abc"};
  const TempPath cache_, model_;
};

TEST_F(StoredStarts, HaveAFileForEachModelMachineAndSettings) {
  const std::string path = Path(key_, {});
  EXPECT_EQ(Path(key_, {}), path);
  EXPECT_NE(Path({"A CPU", "avx512", "0.1", "abc"}, {}), path);
  EXPECT_NE(Path(key_, {"--threads", "1"}), path);
  std::ofstream(model_.str()) << "another model";
  EXPECT_NE(Path(key_, {}), path);
  EXPECT_TELLS(StartCostsPath("", key_, {model_.str()}, {}), "METE_CACHE");
  EXPECT_TELLS(StartCostsPath(cache_.str(), key_, {"/no/such.onnx"}, {}), "[/no/such.onnx]");
}

TEST_F(StoredStarts, AreReadAsTheyWereKept) {
  const std::string path = Path(key_, {});
  EXPECT_FALSE(StoredStartCosts(path));
  StartCosts costs;
  costs.resident = {4, 0.1, 5, {0, 0, 0, 4}};
  costs.killed = {40, 1, 5, {10, 10, 10, 10}};
  StoreStartCosts(costs, path);
  EXPECT_EQ(StoredStartCosts(path), costs);
  std::ofstream(path) << "{}";
  EXPECT_TELLS(StoredStartCosts(path), "[" + path + "] no costs of starts");
  costs.killed.ms = -1;
  EXPECT_TELLS(StoreStartCosts(costs, path), "'killed'");
}

TEST_F(StoredStarts, AFolderThatCannotBeMadeIsAnError) {
  StartCosts costs;
  costs.resident = costs.killed = {4, 0.1, 5, {0, 0, 0, 4}};
  EXPECT_TELLS(StoreStartCosts(costs, model_.str() + "/starts/a.json"), "cannot write the costs of starts");
}

TEST(MeasureStarts, AProcessThatCannotStartTheModelIsAnErrorAndLeavesNothing) {
  const TempPath cache;
  StartsOptions options;
  options.arguments = {"--gtest_filter=None.None"};  // of this program, which then ends without a greeting
  options.cache_folder = cache.str();
  EXPECT_TELLS(MeasureStarts(options), "[start] the process did not answer");
  EXPECT_TRUE(std::filesystem::is_empty(cache.str()));
  options.cache_folder = "/proc/no-such-folder";
  EXPECT_TELLS(MeasureStarts(options), "try another METE_CACHE");
}

}  // namespace
}  // namespace mete
