#include "run/compare_plans.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>

#include "base/clock_testing.h"
#include "base/errors_testing.h"
#include "network/remote/workers_testing.h"

namespace mete {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::hours kLong{1};  // of what ends before

class Devices : public Workers {
 public:
  explicit Devices(int workers, uint32_t seed = 3) : Workers(workers, seed) {
    options.trial = options.remake = false;  // the costs are made up, and one device would do better
    options.deploy.clock = &clock;
    options.hello_timeout = kLong;
    options.tell = [this](const std::string& note) {
      std::lock_guard lock(mutex);
      notes.push_back(note);
    };
  }
  std::unique_ptr<PoolSession> Open() {
    std::vector<std::unique_ptr<Member>> all;
    for (size_t d = 0; d < costs.processors.size(); ++d)
      all.push_back(d == 0 ? nullptr
                           : std::make_unique<RemoteMember>(
                                 RemoteAddress{costs.processors[d].name, AddressOf(d - 1)}, Security{}));
    return std::make_unique<PoolSession>(random.graph, costs, HomeOfTests(), std::move(all), options);
  }
  std::string Notes() {
    std::lock_guard lock(mutex);
    std::string all;
    for (const std::string& note : notes) all += note + "\n";
    return all;
  }
  // Moves the clock on until it holds.
  void Await(const std::function<bool()>& holds) { clock.AdvanceUntil(Keeper::kLook, holds); }
  // Moves the clock on until the keeper has looked for something to do.
  void LetKeeperLook() {
    clock.Advance(Keeper::kLook);
    clock.AwaitSleeper(Keeper::kLook, Keeper::kLook);
  }

  FakeClock clock;
  PoolSessionOptions options;
  std::mutex mutex;
  std::vector<std::string> notes;
};

TEST(PoolSession, GivesTheBitsOfOneDevice) {
  Devices devices(2);
  const auto session = devices.Open();
  for (int i = 0; i < 5; ++i) {
    RequestReport report;
    devices.ExpectWhole(session->Run(devices.inputs, &report));
    EXPECT_FALSE(report.alone);
  }
  EXPECT_EQ(session->stats().retries, 0);
}

TEST(PoolSession, ComparesPlansInTurnsAndRunsThoseThatAreTheSameOnce) {
  Devices devices(1);
  const auto session = devices.Open();
  const std::vector<ComparedPlan> compared =
      ComparePlans(*session, {"layerwise", "alone", "layerwise"}, devices.inputs, 3);
  ASSERT_EQ(compared.size(), 6u);  // the chosen, each of two devices alone, three planners'
  EXPECT_EQ(compared[0].name, "chosen");
  EXPECT_EQ(compared[5].same_as, compared[3].same_as);
  EXPECT_EQ(compared[5].us, compared[3].us);
  EXPECT_TRUE(compared[4].same_as <= 2) << "one of the devices alone";
  for (const ComparedPlan& c : compared) EXPECT_EQ(c.us.size(), 3u) << c.name;
}

TEST(PoolSession, NoRequestIsLostOrWrongWhateverBecomesOfWorkers) {
  Devices devices(2);
  const auto session = devices.Open();
  constexpr int kTimes = 6;
  std::atomic<bool> all_serve{true}, over{false};
  std::thread trouble([&] {
    for (int i = 0; i < kTimes; ++i) {
      while (!all_serve) std::this_thread::yield();
      const int64_t lost = session->stats().lost;
      devices.Stop(size_t(i % 2));
      while (session->stats().lost == lost) std::this_thread::yield();
      all_serve = false;
      devices.Start(size_t(i % 2));
    }
    over = true;
  });
  devices.Await([&] {
    RequestReport report;
    devices.ExpectWhole(session->Run(devices.inputs, &report));
    if (!report.alone && session->plan().processors.size() == 3) all_serve = true;
    return over && all_serve;
  });
  trouble.join();
  EXPECT_GE(session->stats().lost, kTimes);
}

TEST(PoolSession, WhoIsNotThereAtFirstIsTakenInLater) {
  Devices devices(1);
  devices.Stop(0);
  const auto session = devices.Open();
  RequestReport report;
  devices.ExpectWhole(session->Run(devices.inputs, &report));
  EXPECT_TRUE(report.alone);
  EXPECT_FALSE(report.retried);
  devices.Start(0);
  devices.Await([&] {
    devices.ExpectWhole(session->Run(devices.inputs, &report));
    return !report.alone;
  });
  std::lock_guard lock(devices.mutex);
  EXPECT_NE(devices.notes.back().find("is there again"), std::string::npos);
}

TEST(PoolSession, ALateDeviceCostsNoMoreThanTheDeadline) {
  Devices devices(1);
  devices.options.deadline_ms = 100;
  const auto session = devices.Open();
  devices.gates[0]->Close();
  RequestReport report;
  std::thread request([&] { devices.ExpectWhole(session->Run(devices.inputs, &report)); });
  devices.clock.AwaitSleeper(milliseconds(1),
                             milliseconds(99));  // the keeper's time is kLook, which is 100 ms
  devices.clock.Advance(milliseconds(100));
  request.join();
  devices.gates[0]->Open();
  EXPECT_TRUE(report.retried);
  EXPECT_EQ(session->stats().lost, 1);
}

TEST(PoolSession, CostsThatAreFarOffAreCorrectedAndThePlanMadeAgain) {
  Devices devices(1);
  devices.options.remake = true;
  // Both are said to be faster than they can be, the worker more so.
  for (LayerCost& layer : devices.costs.processors[1].layers) layer.us = 1e-3;
  for (LayerCost& layer : devices.costs.processors[0].layers) layer.us = 1;
  const auto session = devices.Open();
  EXPECT_LT(session->plan().predicted_us, double(devices.costs.processors[0].layers.size()));
  devices.Await([&] {
    for (int i = 0; i < 10; ++i) devices.ExpectWhole(session->Run(devices.inputs));
    return session->stats().plans > 1;
  });
}

TEST(PoolSession, ATrialRunsTheSingleDevicesToo) {
  Devices devices(1);
  devices.options.trial = true;
  const auto session = devices.Open();
  devices.ExpectWhole(session->Run(devices.inputs));
  EXPECT_GE(session->stats().measured, 2);
}

TEST(PoolSession, KnowsFromATrialHowLongARequestTakes) {
  Devices devices(1);
  EXPECT_EQ(devices.Open()->stats().usual_us, 0);
  devices.options.trial = true;
  EXPECT_GT(devices.Open()->stats().usual_us, 0);
}

TEST(PoolSession, WhoeverIsToldMayAskTheSession) {
  Devices devices(1);
  std::unique_ptr<PoolSession> session;
  std::atomic<int> told{0};
  devices.options.tell = [&](const std::string&) { told += session && session->stats().plans > 0; };
  session = devices.Open();
  devices.Stop(0);
  devices.ExpectWhole(session->Run(devices.inputs));
  devices.Await([&] { return told > 0; });
}

TEST(PoolSession, WhoCannotServeIsToldOnceAndTheOthersGoOn) {
  Devices devices(2);
  WorkerOptions full;
  full.max_deployments = 0;
  devices.Stop(0);
  devices.Start(0, full);
  const auto session = devices.Open();
  EXPECT_EQ(session->plan().processors.size(), 2u);
  RequestReport report;
  // one second: longer than the first times that it could be tried again after
  for (int i = 0; i < 10; ++i) {
    devices.ExpectWhole(session->Run(devices.inputs, &report));
    EXPECT_FALSE(report.alone);
    devices.LetKeeperLook();
  }
  EXPECT_EQ(session->stats().plans, 1);
  std::lock_guard lock(devices.mutex);
  ASSERT_EQ(devices.notes.size(), 1u);
  EXPECT_NE(devices.notes[0].find("worker-1 cannot serve"), std::string::npos) << devices.notes[0];
}

TEST(PoolSession, AWorkerWhoseProcessorHasChangedIsLeftOut) {
  Devices devices(1);
  RemoteMember member({"worker-1", devices.AddressOf(0)}, Security{});
  const std::string before = member.CheckThere(kLong);
  EXPECT_NE(before.find(devices.gates[0]->info().description), std::string::npos) << before;
  devices.costs.processors[1].hardware = before;
  RequestReport report;
  devices.ExpectWhole(devices.Open()->Run(devices.inputs, &report));
  EXPECT_FALSE(report.alone) << devices.Notes();

  WorkerOptions other;
  SessionOptions two_threads = ReferenceOptions();
  two_threads.threads = 2;
  other.processors = {std::make_shared<Cpu>("cpu", two_threads)};
  devices.Stop(0);
  devices.Start(0, other);
  const auto session = devices.Open();
  devices.ExpectWhole(session->Run(devices.inputs, &report));
  EXPECT_TRUE(report.alone);
  const std::string notes = devices.Notes();
  EXPECT_NE(notes.find("worker-1 cannot serve, the others go on without it: [worker-1] has changed since the "
                       "model was measured on it; got 2 threads"),
            std::string::npos)
      << notes;
  EXPECT_NE(notes.find("expected " + before + "; try mete profile"), std::string::npos) << notes;
}

TEST(PoolSession, WhatFailedForAWhileIsToldOnceAndTriedAgain) {
  Devices devices(1);
  Builder b;
  ValueId y = b.Input({1, 16, 8, 8});
  // weights that travel by themselves, at least one of them each time
  for (int i = 0; i < 5; ++i) y = b.Conv(y, 16, 16, 3, {1, 1, 1, 1});
  b.Output(y);
  InferShapes(b.graph);
  devices.Use(b.graph);
  std::atomic<int> failures{3};
  devices.options.again = milliseconds(100);
  devices.options.progress = [&](const std::string&, int64_t, int64_t) {
    if (failures > 0 && failures-- > 0) throw std::runtime_error("the disk is full");  // no device's failure
  };
  const auto session = devices.Open();
  RequestReport report;
  devices.ExpectWhole(session->Run(devices.inputs, &report));
  EXPECT_TRUE(report.alone);
  devices.Await([&] { return session->plan().processors.size() == 2; });
  devices.ExpectWhole(session->Run(devices.inputs, &report));
  EXPECT_FALSE(report.alone) << devices.Notes();
  EXPECT_EQ(failures, 0);
  std::lock_guard lock(devices.mutex);
  EXPECT_EQ(std::count(devices.notes.begin(), devices.notes.end(),
                       "this processor computes alone: the disk is full"),
            1);
}

TEST(PoolSession, APlanGoesOnWhereWhoComesCannotServe) {
  Devices devices(2);
  devices.Stop(0);
  const auto session = devices.Open();
  WorkerOptions full;
  full.max_deployments = 0;
  devices.Start(0, full);
  devices.Await([&] { return devices.Notes().find("worker-1 cannot serve") != std::string::npos; });
  RequestReport report;
  devices.ExpectWhole(session->Run(devices.inputs, &report));
  EXPECT_FALSE(report.alone);
  EXPECT_EQ(session->stats().plans, 1);
}

TEST(PoolSession, ErrorsOfTheInputsAreTheCallers) {
  Devices devices(1);
  const auto session = devices.Open();
  const Shape& shape = devices.inputs[0].shape();
  Shape turned = shape;
  std::swap(turned[2], turned[3]);
  EXPECT_TELLS(session->Run(std::vector<Tensor>{}), "wrong number of inputs");
  EXPECT_TELLS(session->Run(std::vector<Tensor>{Tensor(DType::kF32, {3})}), "wrong input shape");
  // as many bytes
  EXPECT_TELLS(session->Run(std::vector<Tensor>{Tensor(DType::kI32, shape)}), "wrong input type; got i32");
  ASSERT_NE(turned, shape);
  EXPECT_TELLS(session->Run(std::vector<Tensor>{Tensor(DType::kF32, turned)}), "wrong input shape");
  EXPECT_EQ(session->stats().lost, 0);
  devices.Await([&] {
    RequestReport report;
    devices.ExpectWhole(session->Run(devices.inputs, &report));
    return !report.alone;
  });
}

}  // namespace
}  // namespace mete
