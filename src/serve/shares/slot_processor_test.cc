#include "serve/shares/slot_processor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "network/remote/remote_member.h"
#include "network/worker/worker.h"
#include "partition/random_graphs_testing.h"
#include "processor/cpu/cpu_testing.h"
#include "processor/wrapped_testing.h"
#include "run/deployed_plan.h"

namespace mete::serve {
namespace {

// Counts runs, and how many there are at a time at most.
struct Counts {
  std::atomic<int> running{0}, most{0};
  std::atomic<int> most_of_one{0};       // of what is ready
  std::function<void()> during = [] {};  // is called in each run
};

void KeepMost(std::atomic<int>& most, int now) {
  for (int before = most; now > before && !most.compare_exchange_weak(before, now);) {}
}

class CountedReady : public WrappedReady {
 public:
  CountedReady(std::shared_ptr<Ready> inner, Counts& counts, std::atomic<int>& runs)
      : WrappedReady(std::move(inner)), counts_(counts), runs_(runs) {}
  void Start(std::span<const ConstView> inputs, std::span<const View> outputs,
             const RunOptions& options) override {
    Begin();
    const std::shared_ptr<void> ended(nullptr, [this](void*) { End(); });
    counts_.during();
    WrappedReady::Start(inputs, outputs, options);
  }
  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) override {
    Begin();
    const std::shared_ptr<void> ended(nullptr, [this](void*) { End(); });
    counts_.during();
    return WrappedReady::Run(inputs, options);
  }

 private:
  void Begin() {
    KeepMost(counts_.most, ++counts_.running);
    KeepMost(counts_.most_of_one, ++running_);
    ++runs_;
  }
  void End() {
    --running_;
    --counts_.running;
  }

  Counts& counts_;
  std::atomic<int>& runs_;
  std::atomic<int> running_{0};
};

class CountedProcessor : public Wrapped {
 public:
  explicit CountedProcessor(Counts& counts)
      : Wrapped(std::make_shared<Cpu>("cpu", ReferenceOptions())), counts_(counts) {}
  std::shared_ptr<Ready> Prepare(const Graph& share) override {
    ++measured;
    return PrepareSoon(share);
  }
  std::shared_ptr<Ready> PrepareSoon(const Graph& share) override {
    return std::make_shared<CountedReady>(ReferenceReady(share), counts_, runs);
  }

  std::atomic<int> runs{0};
  std::atomic<int> measured{0};  // that were made ready with measurements

 private:
  Counts& counts_;
};

class SlotProcessorTest : public testing::Test {
 protected:
  void Start(int slots) {
    ServerOptions options;
    options.repository = folder_.str();
    options.session = SessionOptions::Estimated(slots);
    options.queue.slots = slots;
    std::filesystem::create_directories(folder_.str());
    server_ = std::make_unique<Server>(options);
    wide_ = std::make_shared<CountedProcessor>(counts_);
    narrow_ = std::make_shared<CountedProcessor>(counts_);
    processor_ = std::make_shared<SlotProcessor>(wide_, narrow_, slots, *server_);
  }

  // A test in which this never comes fails.
  static void Await(const std::function<bool()>& comes) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!comes() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_TRUE(comes());
  }
  // The first run, which has all slots, waits until three shares are there, and those after it for each
  // other.
  void HoldForThree() {
    counts_.during = [this] {
      if (narrow_->runs == 0) Await([&] { return server_->waiting() + server_->under_way() == 3; });
      else Await([&] { return narrow_->runs == 2; });
    };
  }
  void ByThreeCallers(const std::function<void()>& call) {
    std::vector<std::thread> callers;
    for (int c = 0; c < 3; ++c) callers.emplace_back(call);
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wide_->runs, 1);
    EXPECT_EQ(narrow_->runs, 2);
    EXPECT_EQ(counts_.most, 2);
    EXPECT_EQ(counts_.most_of_one, 1);
  }

  TempPath folder_;
  Counts counts_;
  std::shared_ptr<CountedProcessor> wide_, narrow_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<SlotProcessor> processor_;
  RandomGraph random_{3, 8};
  const std::vector<Tensor> inputs_ = RandomInputs(random_.graph, 3);
};

TEST_F(SlotProcessorTest, OneShareAloneIsComputedByAllSlots) {
  Start(2);
  const auto ready = processor_->Prepare(random_.graph);
  const std::vector<Tensor> got = ready->Run(inputs_, {}),
                            want = ReferenceReady(random_.graph)->Run(inputs_, {});
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_EQ(std::memcmp(got[i].data(), want[i].data(), want[i].bytes()), 0);
  EXPECT_EQ(wide_->runs, 1);
  EXPECT_EQ(narrow_->runs, 0);
}

TEST_F(SlotProcessorTest, SharesOfManyCallersNeverHaveMoreThanTheSlots) {
  Start(2);
  std::vector<std::thread> callers;
  for (int c = 0; c < 6; ++c)
    callers.emplace_back([&] {
      const auto ready = processor_->Prepare(random_.graph);
      for (int i = 0; i < 20; ++i) (void)ready->Run(inputs_, {});
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wide_->runs + narrow_->runs, 120);
  EXPECT_LE(counts_.most, 2);
  EXPECT_TRUE(server_->Drain(std::chrono::seconds(60)));
  EXPECT_EQ(server_->under_way(), 0);
}

TEST_F(SlotProcessorTest, AShareOfManyCallersIsComputedInEachSlot) {
  Start(2);
  HoldForThree();
  const auto ready = processor_->Prepare(random_.graph);
  ByThreeCallers([&] { (void)ready->Run(inputs_, {}); });
}

// A worker's deployments do not wait for each other before the server's queue, which has to know of all.
TEST_F(SlotProcessorTest, SharesOfAllDeploymentsOfAWorkerAreInTheQueue) {
  Start(2);
  HoldForThree();
  WorkerOptions options;
  options.processors = {processor_};
  const Worker worker(options);
  const std::string address = "127.0.0.1:" + std::to_string(worker.port());
  const Plan plan = PlanOnOne(random_.graph, {"own", "worker"}, 1);
  const std::vector<Tensor> want = ReferenceReady(random_.graph)->Run(inputs_, {});
  ByThreeCallers([&] {
    RemoteMember member({"worker", address}, {});
    std::vector<std::string> notes;
    DeployedPlan deployed(
        random_.graph, plan, {ReferenceCpu(), ReferenceReady}, {nullptr, &member}, {},
        [](const std::string&, int64_t, int64_t) {}, &notes);
    const std::vector<Tensor> got = deployed.Run(inputs_, std::chrono::hours(1));
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_EQ(std::memcmp(got[i].data(), want[i].data(), want[i].bytes()), 0);
  });
}

TEST_F(SlotProcessorTest, MakesSharesReadyWithoutMeasurements) {
  Start(2);
  (void)processor_->Prepare(random_.graph);
  EXPECT_EQ(wide_->measured + narrow_->measured, 0);
}

TEST_F(SlotProcessorTest, ASharesTimeIsTheServersLoad) {
  Start(2);
  std::vector<int> under_way;
  counts_.during = [&] { under_way.push_back(server_->under_way()); };
  const auto ready = processor_->Prepare(random_.graph);
  (void)ready->Run(inputs_, {});
  (void)ready->Run(inputs_, {});
  EXPECT_EQ(under_way, (std::vector<int>{1, 1}));
}

TEST_F(SlotProcessorTest, AServerThatEndsRefusesShares) {
  Start(1);
  const auto ready = processor_->Prepare(random_.graph);
  EXPECT_NO_THROW((void)ready->Run(inputs_, {}));
  EXPECT_EQ(wide_->runs, 1);  // the only slot has all cores
  (void)server_->Drain(std::chrono::seconds(1));
  EXPECT_TELLS((void)ready->Run(inputs_, {}), "it is ending and takes no more requests");
}

TEST_F(SlotProcessorTest, ErrorsOfAShareReachItsCaller) {
  Start(2);
  const auto ready = processor_->Prepare(random_.graph);
  CancelToken cancel;
  cancel.Cancel();
  EXPECT_THROW((void)ready->Run(inputs_, {&cancel, nullptr}), Error);
  EXPECT_NO_THROW((void)ready->Run(inputs_, {}));  // the slot serves on
}

}  // namespace
}  // namespace mete::serve
