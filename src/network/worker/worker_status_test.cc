#include "network/worker/worker_status.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_path_testing.h"

namespace mete {
namespace {

TEST(WorkerCounts, HaveTheTimesOfRequestsAndProcessors) {
  WorkerCounts counts;
  const StageTimes stages[] = {{.wait_us = 1000, .compute_us = 2000}, {.wait_us = 0, .compute_us = 3000}};
  counts.Done("cpu", stages);
  counts.Done("gpu", stages);
  counts.Done("cpu", stages);
  counts.Failed();
  EXPECT_NEAR(counts.BusyS("cpu"), 0.01, 1e-12);
  EXPECT_NEAR(counts.BusyS("gpu"), 0.005, 1e-12);
  EXPECT_EQ(counts.BusyS("other"), 0);
  worker::v1::StatusReply reply;
  counts.Tell(reply);
  EXPECT_EQ(reply.requests(), 3u);
  EXPECT_EQ(reply.failures(), 1u);
  EXPECT_NEAR(reply.sum_s(), 0.018, 1e-12);
  for (int bucket = 0; bucket < reply.count_size(); ++bucket) {
    const bool is_here = bucket > 0 && reply.upper_s(bucket - 1) < 0.006 && reply.upper_s(bucket) >= 0.006;
    EXPECT_EQ(reply.count(bucket), is_here ? 3u : 0u) << reply.upper_s(bucket);
  }
}

TEST(TellMemoryTest, HasTheBudgetAndTheFolder) {
  const TempPath folder;
  std::filesystem::create_directories(folder.str());
  std::ofstream(folder.str() + "/a.weight") << "four";
  std::ofstream(folder.str() + "/other") << "left out";
  MemoryBudget budget(100);
  const auto part = budget.TryTake(30);
  const WeightStore store(folder.str(), 1000,
                          [](int64_t, const std::string&) { return MemoryBudget::Part(); });
  worker::v1::StatusReply reply;
  TellMemory(budget, store, reply);
  EXPECT_EQ(reply.taken_bytes(), 30);
  EXPECT_EQ(reply.most_taken_bytes(), 100);
  EXPECT_EQ(reply.weights_bytes(), 4);
  EXPECT_EQ(reply.most_weights_bytes(), 1000);
  EXPECT_GT(reply.resident_bytes(), 0);
  const WeightStore none("", 1000, {});
  EXPECT_EQ(none.BytesOnDisk(), 0);
}

}  // namespace
}  // namespace mete
