// A steady run over processors of this process allocates nothing, and the shares of a processor have one
// arena.
#include "base/allocations_testing.h"

#include <gtest/gtest.h>

#include "processor/emulated/emulated.h"
#include "run/local_pool_testing.h"

namespace mete {
namespace {

// Runs into memory of the test's.
class Requests {
 public:
  Requests(LocalPool& pool, PoolSession& session) : pool_(pool), session_(session) {
    for (const Tensor& input : pool_.inputs) in_.push_back(input.view());
    for (const Tensor& output : pool_.whole) {
      outputs_.emplace_back(output.type(), output.shape());
      out_.push_back(outputs_.back().mutable_view());
    }
  }
  void Run(int requests) {
    for (int i = 0; i < requests; ++i) session_.Run(in_, out_);
  }
  void ExpectWhole() const { pool_.ExpectWhole(outputs_); }

 private:
  LocalPool& pool_;
  PoolSession& session_;
  std::vector<Tensor> outputs_;
  std::vector<ConstView> in_;
  std::vector<View> out_;
};

// A request may need a buffer more than those before it where a processor is slower than usual, so that it is
// the end of all allocation that shows a steady run: what allocates in each request has no end.
void ExpectThatAllocationEnds(Requests& requests) {
  int last = AllocationsOf([&] { requests.Run(1); });
  EXPECT_GT(last, 0) << "nothing is counted";
  for (int round = 0; round < 100; ++round) {
    last = AllocationsOf([&] { requests.Run(20); });
    if (last == 0) return;
  }
  FAIL() << "20 requests after 1980 others allocate " << last << " times";
}

TEST(PoolAllocation, ASteadyRunAllocatesNothing) {
  if (!METE_COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers bring their own malloc";
  int divided = 0;
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    LocalPool pool(seed);
    pool.Add(std::make_shared<Cpu>("p1", ReferenceOptions()));
    pool.Add(std::make_shared<Emulated>("p2", ReferenceOptions(), 0.5, Emulation{}));
    pool.options.deploy.clock = &Clock::Steady();  // the fake one allocates for whoever sleeps
    pool.options.deadline_ms = 1e7;
    pool.options.deploy.lanes = 1 + int(seed % 2);
    const auto session = pool.Open();
    Requests requests(pool, *session);
    ExpectThatAllocationEnds(requests);
    requests.ExpectWhole();
    EXPECT_EQ(session->stats().retries, 0);
    divided += UsedProcessors(session->plan()).size() > 1;
  }
  EXPECT_GT(divided, 4);
}

TEST(PoolAllocation, ASteadyRunOfAPlanOnTheHomeAloneAllocatesNothing) {
  if (!METE_COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers bring their own malloc";
  LocalPool pool(3);
  pool.options.planner = "alone";
  const auto session = pool.Open();
  Requests requests(pool, *session);
  ExpectThatAllocationEnds(requests);
  requests.ExpectWhole();
}

// The shares are alike, so that their first runs differ in what allocates the arena.
TEST(CpuAllocation, TheSecondShareRunsInTheArenaOfTheFirst) {
  if (!METE_COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers bring their own malloc";
  const RandomGraph random(1, 8);
  const std::vector<Tensor> inputs = RandomInputs(random.graph, 1);
  Cpu cpu("cpu", ReferenceOptions());
  const auto first = cpu.Prepare(random.graph), second = cpu.Prepare(random.graph);
  const int of_first = AllocationsOf([&] { (void)first->Run(inputs, {}); });
  EXPECT_LT(AllocationsOf([&] { (void)second->Run(inputs, {}); }), of_first);
}

}  // namespace
}  // namespace mete
