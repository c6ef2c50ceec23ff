#include "run/deployment.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/errors_testing.h"
#include "passes/graphs_testing.h"
#include "processor/cpu/cpu_testing.h"

namespace mete {
namespace {

constexpr DType kF32 = DType::kF32;

// The program of processor 1: it gets x from the caller and sends the square back.
Program Squares() {
  Builder b;
  const ValueId x = b.Input({1, 8});
  b.Output(b.Op("Mul", {x, x}));
  InferShapes(b.graph);
  Program program;
  program.stages.resize(2);
  program.stages[0].needs.push_back({kNoValue, kF32, {1, 8}, {{0, 0, Part::All(), Part::All()}}});
  program.stages[0].inputs.push_back({0, Part::All()});
  program.stages[0].graph = b.graph;
  program.stages[0].holds.push_back({1, 8});
  program.stages[1].sends.push_back({0, 0, 0, 0, Part::All()});
  Verify(program, 1, {});
  return program;
}

// Keeps what is sent, as a stream that nobody reads from.
class Unread : public DeploymentEnds {
 public:
  void SendPiece(int, uint64_t request, const PieceId&, Tensor, Unwritten::Mark mark) override {
    Keep(request, std::move(mark));
  }
  void SendDone(uint64_t request, std::span<const StageTimes>, Unwritten::Mark mark) override {
    Keep(request, std::move(mark));
    std::lock_guard lock(mutex_);
    done_.push_back(request);
    changed_.notify_all();
  }
  void SendFailure(const Error& error, int processor) override {
    std::lock_guard lock(mutex_);
    failures.push_back(std::to_string(processor) + ": " + error.what());
  }

  void WaitForDone(size_t requests) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_.size() >= requests; });
  }
  size_t done() {
    std::lock_guard lock(mutex_);
    return done_.size();
  }
  void WriteAll() {
    std::vector<Unwritten::Mark> written;
    std::lock_guard lock(mutex_);
    written.swap(marks_);
  }

  std::vector<std::string> failures;
  // whether something of a request came while something of another one was unwritten
  std::atomic<bool> mixed{false};

 private:
  void Keep(uint64_t request, Unwritten::Mark mark) {
    std::lock_guard lock(mutex_);
    if (!marks_.empty() && request != unwritten_) mixed = true;
    unwritten_ = request;
    marks_.push_back(std::move(mark));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Unwritten::Mark> marks_;
  uint64_t unwritten_ = 0;  // the request of the marks
  std::vector<uint64_t> done_;
};

class OnOneLane : public testing::Test {
 protected:
  void Put(uint64_t request) {
    if (const auto inbox = deployment.InboxOf(request)) inbox->Put(0, {0, 0, 0}, Tensor(kF32, {1, 8}));
  }
  void Ask(uint64_t request) {
    deployment.Begin(request);
    Put(request);
  }

  Unread ends;
  Turn turn;
  Deployment deployment{
      "b",          std::make_shared<const PreparedProgram>(Squares(), 1, ReferenceCpu(), ReferenceReady),
      Coding::kF32, 1,
      turn,         ends};
};

using Deployments = OnOneLane;

TEST_F(Deployments, ComputeNoRequestWhileTheLastOnesPiecesAreUnwritten) {
  for (uint64_t request = 0; request < 20; ++request) {
    Ask(request);
    for (int i = 0; i < 1000 && !ends.mixed; ++i) std::this_thread::yield();  // a request takes less time
    ends.WriteAll();
    ends.WaitForDone(request + 1);
  }
  EXPECT_FALSE(ends.mixed);
}

TEST_F(Deployments, EndAlthoughNobodyReadsWhatTheySend) {
  Ask(0);
  ends.WaitForDone(1);
  Ask(1);
  deployment.Stop();
  EXPECT_EQ(ends.done(), 1u);
  EXPECT_TRUE(ends.failures.empty());
}

TEST_F(Deployments, EndAlthoughSomebodyElseComputes) {
  const Turn::Taken taken(turn, [] {});
  Ask(0);
  deployment.Stop();
  EXPECT_EQ(ends.done(), 0u);
}

TEST_F(Deployments, SayWhomARequestWaitsFor) {
  EXPECT_EQ(deployment.WaitsFor(0), -1);
  deployment.Begin(0);
  while (deployment.WaitsFor(0) != 0) std::this_thread::yield();
  Put(0);
  ends.WaitForDone(1);
  while (deployment.WaitsFor(0) != -1) std::this_thread::yield();
}

TEST_F(Deployments, ThatHaveFailedBlameNobodyElse) {
  EXPECT_TELLS(deployment.Begin(7), "is not one of the next; got 7, expected 0 or 1");
  deployment.Begin(0);
  deployment.Fail(Error(Code::kUnavailable, "[b] is gone"), 2);
  // Peers may still send messages: for requests that are over, damaged ones, or too many.
  for (const uint64_t request : {0, 0, 1, 2, 7}) Ask(request);
  EXPECT_EQ(deployment.InboxOf(1), nullptr);
  deployment.Fail(Error(Code::kUnavailable, "[c] is gone"), 3);
  deployment.Stop();
  EXPECT_EQ(ends.failures, std::vector<std::string>{"2: [b] is gone"});
}

}  // namespace
}  // namespace mete
