// Sessions over processors of this process. What is the same over a network is tested in network/remote.
#include "run/pool_session.h"

#include <atomic>

#include "base/errors_testing.h"
#include "plan/pool/dynamic.h"
#include "processor/emulated/emulated.h"
#include "processor/gated_testing.h"
#include "run/local_pool_testing.h"

namespace mete {
namespace {

using std::chrono::milliseconds;

std::shared_ptr<Emulated> Failing(const std::string& fails) {
  return std::make_shared<Emulated>("gpu", ReferenceOptions(), 1, Emulation{0, 0, 0, 0, {}, fails});
}

TEST(LocalPools, GiveTheBitsOfOneProcessor) {
  int divided = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    LocalPool pool(seed);
    pool.Add(std::make_shared<Cpu>("p1", ReferenceOptions()));
    pool.Add(std::make_shared<Cpu>("p2", ReferenceOptions()));
    const auto session = pool.Open();
    for (int i = 0; i < 5; ++i) pool.ExpectWhole(session->Run(pool.inputs));
    divided += UsedProcessors(session->plan()).size() > 1;
  }
  EXPECT_GT(divided, 12);
}

TEST(LocalPools, RequestsOfSeveralLanesRunSideBySide) {
  LocalPool pool(3);
  pool.Add(std::make_shared<Cpu>("p1", ReferenceOptions()));
  pool.options.deploy.lanes = 3;
  const auto session = pool.Open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) pool.ExpectWhole(session->Run(pool.inputs));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(session->stats().retries, 0);
}

TEST(LocalPools, ARequestWhoseProcessorFailsIsComputedAtHome) {
  for (const char* fails : {"run 2", "lost 2"}) {
    SCOPED_TRACE(fails);
    LocalPool pool(3);
    pool.Add(Failing(fails));
    const auto session = pool.Open();
    ASSERT_EQ(UsedProcessors(session->plan()).size(), 2u);
    for (int i = 0; i < 6; ++i) pool.ExpectWhole(session->Run(pool.inputs));
    EXPECT_GE(session->stats().retries, 1);
    EXPECT_NE(pool.Notes().find("gpu is lost, the others go on without it"), std::string::npos)
        << pool.Notes();
  }
}

// The loss is told before the keeper is asked for another plan.
TEST(LocalPools, APlanThatHasFailedIsNotHeld) {
  LocalPool pool(3);
  pool.Add(Failing("lost 1"));
  std::atomic<int> told{0};
  std::unique_ptr<PoolSession> session;
  pool.options.tell = [&](const std::string&) {
    if (told++ > 0) return;
    EXPECT_TELLS(session->HoldPlans(), "the plan in use has failed");
  };
  session = pool.Open();
  EXPECT_TRUE(session->HoldPlans().deployed);
  pool.ExpectWhole(session->Run(pool.inputs));
  EXPECT_GE(told, 1);
}

TEST(LocalPools, AProcessorThatStaysLostIsToldOnce) {
  LocalPool pool(3);
  pool.Add(Failing("lost 1"));
  const auto session = pool.Open();
  pool.ExpectWhole(session->Run(pool.inputs));
  while (session->stats().plans < 2) std::this_thread::yield();  // the keeper plans without it
  for (int i = 0; i < 3; ++i) pool.ExpectWhole(session->Run(pool.inputs));
  EXPECT_EQ(session->stats().lost, 1);
  EXPECT_EQ(pool.Notes().find("is there again"), std::string::npos) << pool.Notes();
}

TEST(LocalPools, AProcessorThatHangsCostsItsRequestTheDeadline) {
  LocalPool pool(3);
  const auto gated = std::make_shared<Gated>(std::make_shared<Cpu>("p1", ReferenceOptions()));
  pool.Add(gated);
  pool.options.deadline_ms = 300;
  const auto session = pool.Open();
  pool.ExpectWhole(session->Run(pool.inputs));
  gated->Close();
  std::thread requests([&] {
    for (int i = 0; i < 3; ++i) pool.ExpectWhole(session->Run(pool.inputs));
  });
  gated->AwaitRun();
  pool.clock.AwaitSleeper(milliseconds(150), milliseconds(300));  // longer than the keeper sleeps
  pool.clock.Advance(milliseconds(300));
  requests.join();
  gated->AwaitNobody();  // it was cancelled
  EXPECT_EQ(session->stats().retries, 1);
}

// An emulated processor hangs until its run is cancelled.
TEST(LocalPools, AnEmulatedProcessorThatHangsCostsItsRequestTheDeadline) {
  LocalPool pool(3);
  pool.Add(Failing("hang 2"));
  pool.options.deadline_ms = 300;
  const auto session = pool.Open();
  ASSERT_EQ(UsedProcessors(session->plan()).size(), 2u);
  std::thread requests([&] {
    for (int i = 0; i < 3; ++i) pool.ExpectWhole(session->Run(pool.inputs));
  });
  pool.clock.AwaitSleeper(milliseconds(150), milliseconds(300));  // longer than the keeper sleeps
  pool.clock.Advance(milliseconds(300));
  requests.join();
  EXPECT_EQ(session->stats().retries, 1);
  EXPECT_NE(pool.Notes().find("gpu is lost, the others go on without it"), std::string::npos) << pool.Notes();
}

TEST(LocalPools, AProcessorThatCannotPrepareIsLeftOut) {
  LocalPool pool(3);
  pool.Add(Failing("prepare"));
  const auto session = pool.Open();
  RequestReport report;
  pool.ExpectWhole(session->Run(pool.inputs, &report));
  EXPECT_TRUE(report.alone);
  EXPECT_NE(pool.Notes().find("gpu cannot serve"), std::string::npos) << pool.Notes();
}

// A processor whose Prepare() waits at a closed gate, as if its kernels were being built.
std::shared_ptr<Gated> Building() {
  auto gpu = std::make_shared<Gated>(std::make_shared<Cpu>("gpu", ReferenceOptions()));
  gpu->ClosePrepare();
  return gpu;
}

// A home whose kernels are measured in some steps if its model is to be ready soon.
class MeasuredLater : public Wrapped {
 public:
  static constexpr int kSteps = 3;
  MeasuredLater() : Wrapped(std::make_shared<Cpu>("own", ReferenceOptions())) {}
  std::shared_ptr<Ready> PrepareSoon(const Graph& share) override {
    left = kSteps;
    return std::make_shared<Share>(*this, Prepare(share));
  }

  std::atomic<int> left{-1};  // steps; -1: the model was not to be ready soon

 private:
  class Share : public WrappedReady {
   public:
    Share(MeasuredLater& processor, std::shared_ptr<Ready> share)
        : WrappedReady(std::move(share)), processor_(processor) {}
    bool MeasureFor(double) override { return --processor_.left > 0; }

   private:
    MeasuredLater& processor_;
  };
};

TEST(LocalPools, AHomeThatAnswersAloneAtFirstIsReadySoonAndMeasuredBeforeThePlan) {
  for (const bool late : {false, true}) {
    SCOPED_TRACE(late);
    LocalPool pool(3);
    const auto home = std::make_shared<MeasuredLater>();
    pool.home = home;
    if (late) pool.Add(Building());
    else pool.Add(std::make_shared<Cpu>("p1", ReferenceOptions()));
    const auto session = pool.Open();
    EXPECT_EQ(home->left == -1, !late);
    pool.ExpectWhole(session->Run(pool.inputs));
    while (late && home->left != 0) std::this_thread::yield();  // the gate holds the plan until then
  }
}

TEST(LocalPools, TheFirstAnswerDoesNotWaitForKernelsThatAreBuilt) {
  LocalPool pool(3);
  const auto gpu = Building();
  pool.Add(gpu);
  const auto session = pool.Open();
  EXPECT_FALSE(session->has_first_plan());
  RequestReport report;
  EXPECT_FALSE(gpu->prepares());  // the first request has the processors to itself
  pool.ExpectWhole(session->Run(pool.inputs, &report));
  gpu->AwaitPrepare();
  pool.ExpectWhole(session->Run(pool.inputs, &report));
  EXPECT_TRUE(report.alone);
  EXPECT_FALSE(report.retried);
  EXPECT_NE(pool.Notes().find("kernels of gpu are being built; own computes alone until then"),
            std::string::npos)
      << pool.Notes();
  gpu->OpenPrepare();
  session->AwaitFirstPlan();
  EXPECT_TRUE(session->has_first_plan());
  ASSERT_EQ(UsedProcessors(session->plan()).size(), 2u);
  pool.ExpectWhole(session->Run(pool.inputs, &report));
  EXPECT_FALSE(report.alone);
  EXPECT_EQ(session->stats().retries, 0);
  EXPECT_NE(pool.Notes().find("kernels of gpu are built; from now on: "), std::string::npos) << pool.Notes();
}

TEST(LocalPools, ASessionThatEndsDoesNotWaitForKernelsThatAreBuilt) {
  LocalPool pool(3);
  const auto gpu = Building();
  pool.Add(gpu);
  auto session = pool.Open();
  pool.ExpectWhole(session->Run(pool.inputs));
  gpu->AwaitPrepare();
  session.reset();  // the gate stays closed
  EXPECT_EQ(pool.Notes().find("computes alone: "), std::string::npos) << pool.Notes();
}

TEST(LocalPools, CostsThatNobodyKnowsAreMeasuredBehindTheFirstAnswer) {
  LocalPool pool(3);
  pool.Add(Failing(""));
  const PoolCosts known =
      std::exchange(pool.costs, WithoutTimes({"own", "gpu"}, pool.costs.processors[0].layers.size()));
  std::atomic<bool> answered{false};
  pool.options.measure = [&](const ToMeasure& to) {
    EXPECT_EQ(&to.home, pool.home.get());
    EXPECT_EQ(to.processors, (std::vector<size_t>{0, 1}));
    while (!answered) std::this_thread::yield();
    return known;
  };
  const auto session = pool.Open();
  pool.ExpectWhole(session->Run(pool.inputs));
  EXPECT_FALSE(session->has_first_plan());
  answered = true;
  session->AwaitFirstPlan();
  EXPECT_EQ(UsedProcessors(session->plan()).size(), 2u);
  EXPECT_GT(session->plan().predicted_us, 0);
  pool.ExpectWhole(session->Run(pool.inputs));
}

// A pool of three whose costs nobody knows; the last processor is not there.
struct UnmeasuredPool : LocalPool {
  UnmeasuredPool() : LocalPool(3) {
    Add(std::make_shared<Cpu>("p1", ReferenceOptions()));
    Add(gpu);
    gpu->Leave();
    known = std::exchange(costs, WithoutTimes({"own", "p1", "gpu"}, costs.processors[0].layers.size()));
    options.measure = [this](const ToMeasure& to) {
      EXPECT_EQ(to.members.size(), to.processors.size());
      measured.push_back(to.processors);
      PoolCosts some;
      for (const size_t p : to.processors) some.processors.push_back(known.processors[p]);
      return some;
    };
  }

  const std::shared_ptr<Gated> gpu =
      std::make_shared<Gated>(std::make_shared<Cpu>("gpu", ReferenceOptions()));
  PoolCosts known;
  std::vector<std::vector<size_t>> measured;  // the processors of each call; read it when nothing is measured
};

TEST(LocalPools, AProcessorThatIsNotThereHindersNoOther) {
  UnmeasuredPool pool;
  pool.known.processors[1].layers[0] = {.why_not = "no kernel"};
  RequestReport meanwhile{.alone = false};
  std::unique_ptr<PoolSession> session;
  pool.options.measure = [&, measure = pool.options.measure](const ToMeasure& to) {
    if (to.processors.size() == 3) pool.ExpectWhole(session->Run(pool.inputs, &meanwhile));
    return measure(to);
  };
  session = pool.Open();
  session->AwaitFirstPlan();
  EXPECT_EQ(pool.measured, (std::vector<std::vector<size_t>>{{0, 1}}));
  EXPECT_EQ(session->plan().processors, (std::vector<std::string>{"own", "p1"}));
  EXPECT_EQ(UsedProcessors(session->plan()).size(), 2u);
  pool.ExpectWhole(session->Run(pool.inputs));
  EXPECT_NE(pool.Notes().find("gpu is lost, the others go on without it: [gpu] has left"), std::string::npos)
      << pool.Notes();
  EXPECT_EQ(pool.Notes().find("computes alone: "), std::string::npos) << pool.Notes();
  pool.gpu->Return();
  const auto has_all = [&] { return session->plan().processors.size() == 3; };
  pool.clock.AdvanceUntil(Keeper::kLook, has_all);
  EXPECT_EQ(pool.measured, (std::vector<std::vector<size_t>>{{0, 1}, {0, 1, 2}}));
  EXPECT_TRUE(meanwhile.alone) << "the others computed while they were measured";
  pool.ExpectWhole(session->Run(pool.inputs));
  const std::string notes = pool.Notes();
  EXPECT_NE(notes.find("gpu is there again"), std::string::npos) << notes;
  const size_t lack = notes.find("no kernel; others do");
  ASSERT_NE(lack, std::string::npos) << notes;
  EXPECT_EQ(notes.find("no kernel; others do", lack + 1), std::string::npos) << notes;
}

TEST(LocalPools, OneThatComesLateAndCannotBeMeasuredLeavesThePlanOfTheOthers) {
  UnmeasuredPool pool;
  pool.options.measure = [measure = pool.options.measure](const ToMeasure& to) {
    if (to.processors.size() == 3) Fail(Code::kResourceExhausted, "gpu", "has no memory");
    return measure(to);
  };
  const auto session = pool.Open();
  session->AwaitFirstPlan();
  pool.gpu->Return();
  pool.clock.AdvanceUntil(Keeper::kLook, [&] { return session->stats().plans == 4; });
  RequestReport report;
  pool.ExpectWhole(session->Run(pool.inputs, &report));
  EXPECT_FALSE(report.alone);
  EXPECT_EQ(session->plan().processors, (std::vector<std::string>{"own", "p1"}));
  EXPECT_NE(pool.Notes().find("processors that were not measured are left out for good: [gpu] has no memory"),
            std::string::npos)
      << pool.Notes();
}

TEST(LocalPools, OneThatGoesWhileItIsMeasuredHindersNoOther) {
  UnmeasuredPool pool;
  pool.gpu->Return();
  pool.options.measure = [&pool, measure = pool.options.measure](const ToMeasure& to) {
    if (to.processors.size() == 2) return measure(to);
    pool.gpu->Leave();
    Fail(Code::kUnavailable, "gpu", "has left in the middle");
  };
  const auto session = pool.Open();
  session->AwaitFirstPlan();
  EXPECT_EQ(pool.measured, (std::vector<std::vector<size_t>>{{0, 1}}));
  EXPECT_EQ(UsedProcessors(session->plan()).size(), 2u);
  pool.ExpectWhole(session->Run(pool.inputs));
}

TEST(LocalPools, OneThatIsLostAndBackWhileItIsMeasuredIsMeasuredOnceMore) {
  for (const int failures : {1, 2}) {
    UnmeasuredPool pool;
    pool.gpu->Return();
    int left = failures, calls = 0;
    pool.options.measure = [&, measure = pool.options.measure](const ToMeasure& to) {
      ++calls;
      if (left-- > 0) Fail(Code::kUnavailable, "gpu", "was lost for a moment");
      return measure(to);
    };
    const auto session = pool.Open();
    session->AwaitFirstPlan();
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(pool.measured.size(), failures == 1 ? 1u : 0u);
    EXPECT_EQ(UsedProcessors(session->plan()).size() > 1, failures == 1);
    pool.ExpectWhole(session->Run(pool.inputs));
  }
}

TEST(LocalPools, AHomeThatIsLeftAloneMeasuresNothing) {
  LocalPool pool(3);
  const auto gpu = std::make_shared<Gated>(std::make_shared<Cpu>("gpu", ReferenceOptions()));
  gpu->Leave();
  pool.Add(gpu);
  pool.costs = WithoutTimes({"own", "gpu"}, pool.costs.processors[0].layers.size());
  pool.options.measure = [](const ToMeasure&) -> PoolCosts {
    ADD_FAILURE();
    return {};
  };
  const auto session = pool.Open();
  session->AwaitFirstPlan();
  pool.ExpectWhole(session->Run(pool.inputs));
  EXPECT_NE(pool.Notes().find("this processor computes alone: no other processor is there"),
            std::string::npos)
      << pool.Notes();
}

TEST(LocalPools, WithoutCostsTheHomeComputesAloneForGood) {
  LocalPool pool(3);
  pool.Add(Failing(""));
  pool.costs = WithoutTimes({"own", "gpu"}, pool.costs.processors[0].layers.size());
  pool.options.measure = [](const ToMeasure&) -> PoolCosts {
    Fail(Code::kResourceExhausted, "gpu", "has no memory");
  };
  const auto session = pool.Open();
  session->AwaitFirstPlan();
  pool.clock.Advance(pool.options.again);  // the keeper would plan again by now
  for (int i = 0; i < 3; ++i) pool.ExpectWhole(session->Run(pool.inputs));
  EXPECT_EQ(UsedProcessors(session->plan()).size(), 1u);
  EXPECT_NE(pool.Notes().find("this processor computes alone: [gpu] has no memory"), std::string::npos)
      << pool.Notes();
}

TEST(LocalPools, ErrorsOfTheInputsAreTheCallers) {
  LocalPool pool(3);
  pool.Add(std::make_shared<Cpu>("p1", ReferenceOptions()));
  const auto session = pool.Open();
  EXPECT_TELLS(session->Run({}), "wrong number of inputs");
  EXPECT_EQ(session->stats().retries, 0);
}

}  // namespace
}  // namespace mete
