#include "run/deployed_plan.h"

#include <malloc.h>

#include <filesystem>

#include "base/clock_testing.h"
#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "network/remote/workers_testing.h"
#include "run/time_graph.h"

namespace mete {
namespace {

class Pool : public Workers {
 public:
  Pool(int workers, uint32_t seed) : Workers(workers, seed) {
    members.push_back(nullptr);
    for (int w = 0; w < workers; ++w) {
      held.push_back(std::make_unique<RemoteMember>(
          RemoteAddress{costs.processors[size_t(w) + 1].name, AddressOf(size_t(w))}, Security{}));
      members.push_back(held.back().get());
    }
  }
  std::unique_ptr<DeployedPlan> Deploy(DeployOptions options = {}) {
    options.clock = &clock;
    return std::make_unique<DeployedPlan>(
        random.graph, plan, HomeProcessor{ReferenceCpu(), ReadyAtHome}, members, options,
        [](const std::string&, int64_t, int64_t) {}, &notes);
  }

  FakeClock clock;  // nobody is late unless a test says so
  std::vector<std::unique_ptr<RemoteMember>> held;
  std::vector<Member*> members;
  std::vector<std::string> notes;
};

constexpr std::chrono::seconds kPatience{8};
constexpr std::chrono::hours kLong{1};  // of calls that end before

TEST(DeployedPlan, SeveralWorkersGiveTheBitsOfOneDevice) {
  int divided = 0;
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Pool pool(2, seed);
    divided += pool.Divided();
    const auto deployed = pool.Deploy();
    for (int i = 0; i < 5; ++i) pool.ExpectWhole(deployed->Run(pool.inputs, kPatience));
  }
  EXPECT_GT(divided, 3);
}

TEST(DeployedPlan, RequestsOfSeveralThreadsRunSideBySide) {
  Pool pool(2, 3);
  DeployOptions options;
  options.lanes = 3;
  const auto deployed = pool.Deploy(options);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) pool.ExpectWhole(deployed->Run(pool.inputs, kPatience));
    });
  for (std::thread& t : threads) t.join();
}

TEST(DeployedPlan, AWorkerThatGoesFailsTheRequestAndAllLaterOnes) {
  Pool pool(2, 3);
  ASSERT_TRUE(pool.Divided());
  const auto deployed = pool.Deploy();
  pool.ExpectWhole(deployed->Run(pool.inputs, kPatience));
  pool.Stop(1);
  EXPECT_THROW(
      {
        for (int i = 0; i < 2; ++i) (void)deployed->Run(pool.inputs, kPatience);
      },
      ProcessorError);
  EXPECT_TRUE(deployed->failed());
  EXPECT_THROW((void)deployed->Run(pool.inputs, kPatience), ProcessorError);
}

// Bytes that are allocated, in all of the process. 0 under sanitizers, which have their own.
size_t AllocatedBytes() {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

TEST(DeployedPlan, NothingIsKeptOfOneThatIsGone) {
  if (AllocatedBytes() == 0) GTEST_SKIP() << "a sanitizer allocates here";
  Pool pool(2, 3);
  size_t first = 0;
  for (int i = 0; i < 120; ++i) {
    for (const auto& member : pool.held) member->ForgetShares();
    pool.ExpectWhole(pool.Deploy()->Run(pool.inputs, kPatience));
    if (i == 19) first = AllocatedBytes();  // threads and connections have by then what they keep
  }
  // of each 10 KiB, which is less than its sessions have
  EXPECT_LT(AllocatedBytes(), first + (size_t(1) << 20));
}

TEST(DeployedPlan, WhoWaitsForAnotherIsNotToBlame) {
  Pool pool(2, 3);
  // The first layers on worker-2, the others on worker-1: the caller waits for that one.
  const std::vector<Layer> layers = LayersOf(pool.random.graph);
  const auto live = LiveValues(pool.random.graph, layers);
  pool.plan.groups.clear();
  for (const auto& [first, last, device] : {std::tuple{0, 1, 2}, {1, int(layers.size()), 1}}) {
    PlannedGroup group{first, last, WholeOn(device), {}, 0};
    Share share{device, {}, {}};
    const bool at_end = last == int(layers.size());
    for (const ValueId id : at_end ? OutputsOf(pool.random.graph, {.groups = {group}}) : live[size_t(last)])
      share.outputs.push_back({id, Part::All()});
    group.shares.push_back(std::move(share));
    pool.plan.groups.push_back(std::move(group));
  }
  const auto deployed = pool.Deploy();
  pool.ExpectWhole(deployed->Run(pool.inputs, kPatience));

  pool.gates[1]->Close();
  std::thread late([&] {
    pool.gates[1]->AwaitRun();
    while (pool.workers[0]->waiting() == 0) std::this_thread::yield();
    pool.clock.AwaitSleeper(kPatience / 2, kPatience);
    // The caller has the last 50 ms of its patience to ask the worker which piece it is waiting for.
    pool.clock.Advance(kPatience - std::chrono::milliseconds(50));
  });
  try {
    (void)deployed->Run(pool.inputs, kPatience);
    ADD_FAILURE();
  } catch (const ProcessorError& error) {
    EXPECT_EQ(error.processor(), 2);
    EXPECT_EQ(std::string(error.what()),
              "[processors] a part of the answer did not come in time, from worker-2");
  }
  late.join();
  pool.gates[1]->Open();
}

TEST(DeployedPlan, IsRefusedByWhoSpeaksAnotherProtocolOrWantsAToken) {
  Pool pool(1, 3);
  WorkerOptions options;
  options.protocol = kProtocol + 1;
  const Worker other(options);
  RemoteMember remote({"other", "127.0.0.1:" + std::to_string(other.port())}, {});
  EXPECT_TELLS(remote.CheckThere(kLong), "another version of the protocol");
  pool.members[1] = &remote;
  EXPECT_TELLS(pool.Deploy(), "another version of the protocol");

  options.protocol = kProtocol;
  options.security.token = "sixteen letters!";
  const Worker closed(options);
  const std::string address = "127.0.0.1:" + std::to_string(closed.port());
  RemoteDevice without({"closed", address}, {});
  RemoteDevice wrong({"closed", address}, {"", "", "", "another word"});
  RemoteDevice right({"closed", address}, options.security);
  EXPECT_TELLS(without.Hello(kLong), "the token is missing or wrong");
  EXPECT_TELLS(wrong.Hello(kLong), "the token is missing or wrong");
  EXPECT_EQ(right.Hello(kLong).deployments, 0);
}

TEST(RemoteDevice, WeightsTravelOnce) {
  const TempPath folder;
  WorkerOptions options;
  options.weights_folder = folder.str();
  const Tensor tensor = MadeUp(DType::kF32, {300, 1000});
  const std::map<Digest, Tensor> weights{{DigestOf(tensor.view()), tensor}};
  int64_t sent = 0;
  const auto count = [&](int64_t bytes, int64_t) { sent = bytes; };
  std::string note;
  for (const bool damage : {false, false, true, false}) {
    const Worker worker(options);
    RemoteDevice remote({"w", "127.0.0.1:" + std::to_string(worker.port())}, {});
    sent = 0;
    const std::string file = folder.str() + "/" + ToHex(weights.begin()->first) + ".weight";
    const bool there = std::filesystem::exists(file);
    if (damage) std::filesystem::resize_file(file, 1000);
    remote.SendWeights(weights, count, &note);
    EXPECT_EQ(sent, there && !damage ? 0 : int64_t(tensor.bytes()));
    EXPECT_EQ(note, "");
  }
}

TEST(RemoteDevice, TimesAGraphThatHasNoWeightsThere) {
  const Worker worker({});
  RemoteDevice remote({"w", "127.0.0.1:" + std::to_string(worker.port())}, {});
  Builder b;
  b.Output(b.Conv(b.Input({1, 16, 8, 8}), 16, 14, 3));
  InferShapes(b.graph);
  const GraphTimes timing = remote.Time(b.graph, 3, kLong);
  EXPECT_EQ(timing.us.size(), 3u);
  EXPECT_GT(timing.us[0], 0);
  EXPECT_FALSE(timing.nodes.empty());
}

TEST(RemoteDevice, NobodyThereIsAnErrorWithinItsTime) {
  RemoteDevice remote({"nobody", "127.0.0.1:1"}, {});
  EXPECT_TELLS(remote.Hello(std::chrono::milliseconds(500)), "[nobody]");
}

TEST(RemoteDevice, OnceCancelledItsCallsAndDeploymentsEnd) {
  Pool pool(1, 3);
  RemoteDevice& remote = pool.held[0]->device();
  const auto deployed = pool.Deploy();
  pool.ExpectWhole(deployed->Run(pool.inputs, kPatience));
  remote.Cancel();
  EXPECT_THROW((void)deployed->Run(pool.inputs, kPatience), ProcessorError);
  try {
    (void)remote.Hello(kLong);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCancelled);
  }
}

TEST(RemoteDevice, SeesAtOnceThatAWorkerIsThereAgain) {
  Pool pool(1, 3);
  RemoteDevice& remote = pool.held[0]->device();
  (void)remote.Hello(kLong);
  pool.Stop(0);
  for (int i = 0; i < 3; ++i) EXPECT_TELLS(remote.Hello(kLong), "[worker-1]");
  pool.Start(0);
  EXPECT_EQ(remote.Hello(kLong).deployments, 0);  // the first that is asked
}

}  // namespace
}  // namespace mete
