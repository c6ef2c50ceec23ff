// A session whose processor is lost every few seconds, in all ways in which a GPU is: no request is lost, and
// no answer is wrong.
#include <atomic>

#include "processor/cpu/cpu_testing.h"
#include "processor/wrapped_testing.h"
#include "run/local_pool_testing.h"

namespace mete {
namespace {

using std::chrono::milliseconds;

// Computes as a CPU does until it is lost: a run fails before it begins, or after it has written its outputs,
// or hangs until it is cancelled, in turns. It is there again after some time, for shares that are made anew.
class Lossy : public Wrapped {
 public:
  static constexpr milliseconds kAway{200};

  Lossy(Clock& clock, int64_t runs)
      : Wrapped(std::make_shared<Cpu>("gpu", ReferenceOptions())), clock_(clock), runs_(runs) {}

  void CheckThere() const override {
    if (IsAway()) Fail(Code::kUnavailable, info().name, "is away");
  }
  std::shared_ptr<Ready> Prepare(const Graph& share) override {
    CheckThere();
    return std::make_shared<Share>(*this, Wrapped::Prepare(share));
  }
  bool hangs() const { return hangs_; }

 private:
  class Share : public WrappedReady {
   public:
    Share(Lossy& processor, std::shared_ptr<Ready> share)
        : WrappedReady(std::move(share)), processor_(processor), made_at_loss_(processor.losses_) {}
    void Start(std::span<const ConstView> inputs, std::span<const View> outputs,
               const RunOptions& options) override {
      const int way = processor_.WayOfLoss();
      if (way == 0 || made_at_loss_ != processor_.losses_ - (way >= 0)) Fail();
      if (way == 2) processor_.Hang(*options.cancel);
      WrappedReady::Start(inputs, outputs, options);
      fails_ = way == 1;
    }
    void Wait() override {
      WrappedReady::Wait();
      if (fails_) Fail();
    }

   private:
    [[noreturn]] void Fail() const {
      mete::Fail(Code::kUnavailable, processor_.info().name, "is lost in the middle of a request");
    }

    Lossy& processor_;
    const int64_t made_at_loss_;
    bool fails_ = false;
  };

  bool IsAway() const { return clock_.Now() < back_at_.load(); }
  // Counts a run. Returns how it is lost in it; -1: it is not.
  int WayOfLoss() {
    if (++run_ % runs_ != 0) return -1;
    back_at_ = clock_.Now() + kAway;
    return int(losses_++ % 3);
  }
  void Hang(const CancelToken& cancel) {
    hangs_ = true;
    while (!cancel.cancelled()) std::this_thread::yield();
    hangs_ = false;
    Fail(Code::kCancelled, info().name, "hung until it was cancelled");
  }

  Clock& clock_;
  const int64_t runs_;  // from one loss to the next
  std::atomic<int64_t> run_{0}, losses_{0};
  std::atomic<Clock::Time> back_at_{Clock::Time::min()};
  std::atomic<bool> hangs_{false};
};

TEST(LossyPool, LosesNoRequestAndNoAnswerIsWrong) {
  constexpr int kRequests = 10'000;
  constexpr milliseconds kRequest{2};     // from one to the next, by the test's clock
  constexpr int64_t kRunsToLoss = 2'200;  // of shares: some seconds, after which the back-off begins anew
  LocalPool pool(3);
  const auto gpu = std::make_shared<Lossy>(pool.clock, kRunsToLoss);
  pool.Add(gpu);
  const auto session = pool.Open();
  ASSERT_EQ(UsedProcessors(session->plan()).size(), 2u);
  // only the clock ends a run that hangs
  const std::jthread patience([&](const std::stop_token& stop) {
    while (!stop.stop_requested())
      if (gpu->hangs()) pool.clock.Advance(milliseconds(10));
      else std::this_thread::yield();
  });
  for (int i = 0; i < kRequests; ++i) {
    pool.ExpectWhole(session->Run(pool.inputs));
    pool.clock.Advance(kRequest);
  }
  const PoolSessionStats stats = session->stats();
  EXPECT_EQ(stats.requests, kRequests);
  EXPECT_GE(stats.lost, 3) << "each way once, and back after each";
  EXPECT_LE(stats.retries, stats.lost)
      << "a loss costs one request one retry, and none if the keeper sees it first";
  EXPECT_GE(stats.retries, 3) << "each way in a request";
}

}  // namespace
}  // namespace mete
