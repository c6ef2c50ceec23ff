#include "processor/opencl/gpu/ready_on_gpu.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "processor/opencl/api/device_testing.h"
#include "processor/opencl/gpu/hand_made_testing.h"

namespace mete::opencl {
namespace {

// Runs shares made by hand with each kind of memory between the device and the host.
class ReadyShares : public WithDevice, public testing::WithParamInterface<StagingKind> {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (IsSkipped()) return;
    if (GetParam() == StagingKind::kShared && !device().facts().has_fine_svm)
      GTEST_SKIP() << "the device has no memory that both sides see without a map";
    live = std::make_shared<LiveGpu>("gpu", device(), GetParam(), kept.str(), Clock::Steady());
  }

  std::shared_ptr<ReadyOnGpu> Prepare(const HandMade& made) const {
    return std::make_shared<ReadyOnGpu>("gpu", live, std::make_unique<Graph>(made.graph), made.share,
                                        NowNs());
  }

  std::shared_ptr<LiveGpu> live;
  const TempPath kept;
};

INSTANTIATE_TEST_SUITE_P(All, ReadyShares, testing::Values(StagingKind::kShared, StagingKind::kMapped),
                         [](const auto& info) {
                           return info.param == StagingKind::kShared ? "Shared" : "Mapped";
                         });

Tensor Counting(int64_t elements, float from) {
  Tensor tensor(DType::kF32, {elements});
  for (int64_t i = 0; i < elements; ++i) tensor.mutable_view().as<float>()[i] = from + float(i);
  return tensor;
}

void ExpectPlus(const Tensor& got, const Tensor& input, int steps) {
  ASSERT_EQ(got.shape(), input.shape());
  for (int64_t i = 0; i < got.elements(); ++i)
    ASSERT_EQ(got.as<float>()[i], input.as<float>()[i] + float(steps)) << "element " << i;
}

TEST_P(ReadyShares, RunAgainAndAgainOverOneArena) {
  const auto few = Prepare(AddsOne(1000, 3));
  for (int run = 0; run < 3; ++run) {
    const Tensor input = Counting(1000, float(run));
    ExpectPlus(few->Run({&input, 1}, {})[0], input, 3);
  }
  const auto larger = Prepare(AddsOne(5001, 4));  // the arena grows
  const Tensor input = Counting(1000, 7), large = Counting(5001, 8);
  for (int run = 0; run < 2; ++run) {
    ExpectPlus(few->Run({&input, 1}, {})[0], input, 3);
    ExpectPlus(larger->Run({&large, 1}, {})[0], large, 4);
  }
}

// A tensor of the device's own memory is neither copied nor allocated a second time, wherever it lies from
// request to request. Other tensors may come between, and mapped memory always belongs to the share.
TEST_P(ReadyShares, UseTensorsOfTheDevicesMemoryWhereTheyLie) {
  const auto make = [&](const Shape& shape) {
    return live->shared() ? live->shared()->Make(DType::kF32, shape) : Tensor(DType::kF32, shape);
  };
  const auto share = Prepare(AddsOne(1000, 3));
  const int64_t bytes = share->memory_bytes();
  for (int run = 0; run < 3; ++run) {
    const Tensor from = Counting(1000, float(run));
    Tensor in = make({2, 1000}), out = make({3, 1000});
    View input{in.mutable_view().as<float>() + 1000, DType::kF32, {1000}},
        output{out.mutable_view().as<float>() + 1000, DType::kF32, {1000}};
    std::copy_n(from.as<float>(), 1000, input.as<float>());
    share->Ready::Run(std::array{ConstView(input)}, std::array{output}, {});
    for (int i = 0; i < 3000; ++i)
      ASSERT_EQ(out.as<float>()[i], i / 1000 == 1 ? from.as<float>()[i - 1000] + 3 : 0) << i;
  }
  EXPECT_EQ(share->memory_bytes(), bytes);
  const Tensor input = Counting(1000, 9);
  ExpectPlus(share->Run({&input, 1}, {})[0], input, 3);
  EXPECT_EQ(share->memory_bytes(), bytes + (live->shared() ? 8000 : 0));  // for what has been copied
}

TEST_P(ReadyShares, AreNotMadeOnceNobodyNeedsThem) {
  const auto before = Prepare(AddsOne(1000, 3));
  live->CancelPreparing();
  EXPECT_TELLS((void)Prepare(AddsOne(1000, 4)), "its kernels are needed no more");
  const Tensor input = Counting(1000, 5);
  ExpectPlus(before->Run({&input, 1}, {})[0], input, 3);
}

TEST_P(ReadyShares, TheArenaIsAsLargeAsTheLargestShareNeeds) {
  const auto few = Prepare(AddsOne(1000, 3));
  const int64_t small = live->Arena()->bytes();
  {
    const auto larger = Prepare(AddsOne(5000, 3));
    EXPECT_GT(live->Arena()->bytes(), small);
  }
  EXPECT_EQ(live->Arena()->bytes(), small);
  const Tensor input = Counting(1000, 7);
  ExpectPlus(few->Run({&input, 1}, {})[0], input, 3);
}

TEST_P(ReadyShares, OfSeveralThreadsDoNotMix) {
  const std::vector<std::shared_ptr<ReadyOnGpu>> shares = {Prepare(AddsOne(3000, 9)),
                                                           Prepare(AddsOne(4000, 5))};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Tensor input = Counting(t % 2 ? 4000 : 3000, float(t));
      for (int run = 0; run < 20; ++run)
        ExpectPlus(shares[size_t(t % 2)]->Run({&input, 1}, {})[0], input, t % 2 ? 5 : 9);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(ReadyShares, GiveTheTimesOfTheirNodes) {
  const HandMade made = AddsOne(100'000, 3);
  const auto ready = Prepare(made);
  const Tensor input = Counting(100'000, 1);
  for (int run = 0; run < 3; ++run) {
    ExpectPlus(ready->Run({&input, 1}, {})[0], input, 3);  // without times, on the other queue
    Trace trace;
    ExpectPlus(ready->Run({&input, 1}, {.trace = &trace})[0], input, 3);
    ASSERT_EQ(trace.events.size(), 3u);
    for (size_t e = 0; e < 3; ++e) {
      EXPECT_EQ(trace.events[e].name, made.graph.nodes[e].name);
      EXPECT_GT(trace.events[e].end_ns, trace.events[e].start_ns);
      const int64_t before_ns = e == 0 ? 0 : trace.events[e - 1].end_ns;
      EXPECT_GE(trace.events[e].start_ns, before_ns);
    }
    EXPECT_GT(trace.total_ns, 0);
  }
}

TEST_P(ReadyShares, ACancelledRunLeavesTheShareFitForTheNext) {
  const auto ready = Prepare(AddsOne(100'000, 50));
  const Tensor input = Counting(100'000, 1);
  CancelToken set;
  set.Cancel();
  EXPECT_TELLS((void)ready->Run({&input, 1}, {.cancel = &set}), "was cancelled before it began");
  Tensor output(DType::kF32, {100'000});
  for (int run = 0; run < 3; ++run) {
    CancelToken token;
    const std::vector<ConstView> in = {input.view()};
    const std::vector<View> out = {output.mutable_view()};
    ready->Start(in, out, {.cancel = &token});
    token.Cancel();
    EXPECT_TELLS(ready->Wait(), "was cancelled while it was under way");
  }
  ExpectPlus(ready->Run({&input, 1}, {})[0], input, 50);
}

TEST_P(ReadyShares, KeepTheirProgramsForTheNextStart) {
  const HandMade made = AddsOne(1000, 3);
  (void)Prepare(made);
  const auto compiled = [&] {  // by a process that starts now
    LiveGpu next("gpu", device(), GetParam(), kept.str(), Clock::Steady());
    return bool(next.ProgramOf(made.share.launches[0].text)->is_new);
  };
  EXPECT_FALSE(compiled());
  const KeptPrograms damaged(kept.str(), device().facts());
  damaged.Keep(DigestOfProgram(made.share.launches[0].text), std::vector<std::byte>(500, std::byte{1}));
  EXPECT_TRUE(compiled());
}

TEST_P(ReadyShares, CountTheirMemory) {
  const auto ready = Prepare(AddsOne(1024, 3));
  const int mapped = live->shared() ? 0 : 2;  // input, output
  EXPECT_EQ(ready->memory_bytes(), 4096 * (1 /* packed */ + 2 /* arena */ + mapped));
}

}  // namespace
}  // namespace mete::opencl
