#include "run/local_member.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/unpinned.h"
#include "run/deployment.h"
#include "run/spin.h"

namespace mete {
namespace {

class LocalProgram : public MemberProgram, private DeploymentEnds {
 public:
  LocalProgram(std::shared_ptr<Processor> processor, Turn& turn, const ProgramToHost& program,
               PlanEvents& events)
      : processor_(std::move(processor)),
        index_(program.processor),
        coding_(program.coding),
        lanes_(program.lanes),
        shared_(program.shared),
        turn_(turn),
        events_(events),
        maker_(Unpinned([this, copy = program.program]() mutable { Make(std::move(copy)); })) {}
  ~LocalProgram() override { Stop(); }

  void Stop() override {
    stopped_ = true;
    if (maker_.joinable()) maker_.join();
    if (deployment_) deployment_->Stop();
  }

  void WaitReady(std::chrono::milliseconds timeout, Clock& clock) override {
    std::unique_lock lock(mutex_);
    if (!clock.WaitUntil(changed_, lock, clock.Now() + timeout, [&] { return deployment_ || error_; }))
      Fail(Code::kDeadlineExceeded, processor_->info().name, "has not made its share ready in {} s",
           timeout.count() / 1000);
    if (error_) std::rethrow_exception(error_);
  }
  void Begin(uint64_t request) override { deployment_->Begin(request); }
  void Send(int from, uint64_t request, const PieceId& id, Tensor piece, Unwritten::Mark) override {
    if (const auto inbox = deployment_->InboxOf(request)) inbox->Put(from, id, std::move(piece));
  }
  std::shared_ptr<Inbox> InboxOf(uint64_t request) override { return deployment_->InboxOf(request); }
  const PreparedProgram* prepared() const override { return &deployment_->program(); }
  std::optional<int> WaitsFor(uint64_t request, Clock::Time, Clock&) override {
    return deployment_->WaitsFor(request);
  }

 private:
  void Make(Program program) {
    std::unique_ptr<Deployment> deployment;
    std::exception_ptr error;
    try {
      const MakeReady make = [this](const Graph& share) {
        if (stopped_) Fail(Code::kCancelled, processor_->info().name, "the plan is given up");
        return processor_->Prepare(share);
      };
      auto prepared =
          std::make_shared<const PreparedProgram>(std::move(program), index_, *processor_, make, shared_);
      deployment = std::make_unique<Deployment>(processor_->info().name, std::move(prepared), coding_, lanes_,
                                                turn_, static_cast<DeploymentEnds&>(*this));
    } catch (...) {
      error = std::current_exception();
    }
    std::lock_guard lock(mutex_);
    deployment_ = std::move(deployment);
    error_ = error;
    changed_.notify_all();
  }

  void SendPiece(int to, uint64_t request, const PieceId& id, Tensor piece, Unwritten::Mark mark) override {
    events_.Deliver(index_, to, request, id, std::move(piece), std::move(mark));
  }
  void SendDone(uint64_t request, std::span<const StageTimes> times, Unwritten::Mark) override {
    events_.OnDone(index_, request, times);
  }
  void SendFailure(const Error& error, int processor) override { events_.OnFailure(processor, error); }

  const std::shared_ptr<Processor> processor_;
  const int index_;
  const Coding coding_;
  const int lanes_;
  const MakeTensor shared_;
  Turn& turn_;
  PlanEvents& events_;
  std::atomic<bool> stopped_{false};  // ends the preparing
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr error_;                // of the preparing
  std::unique_ptr<Deployment> deployment_;  // made by maker_; its threads use all of the above
  std::thread maker_;                       // last: it uses all of the above
};

// Hands tensors to a thread of the member and gets tensors back, as pieces are handed over: the sender has
// written them before, and the receiver copies what it gets to where it needs it.
class LocalEcho : public Echo {
 public:
  explicit LocalEcho(Processor& processor)
      : processor_(processor), there_(Unpinned([this](std::stop_token stop) { Answer(stop); })) {}
  ~LocalEcho() override {
    there_.request_stop();
    std::lock_guard lock(mutex_);
    changes_.fetch_add(1, std::memory_order_release);
    changed_.notify_all();
  }

  double Us(size_t bytes, size_t answer) override {
    Put(asked_, {{}, answer});
    (void)Take(answered_, std::stop_token());
    const Tensor message = Filled(bytes);
    const int64_t start_ns = NowNs();
    Put(asked_, {message, answer});
    const Message got = Take(answered_, std::stop_token());
    std::memcpy(Room(here_, answer), got.tensor.data(), answer);
    return double(NowNs() - start_ns) * 1e-3;
  }
  double MessageUs(int count) override {
    Put(asked_, {{}, 1});
    (void)Take(answered_, std::stop_token());
    const int64_t start_ns = NowNs();
    for (int i = 0; i < count; ++i) Put(asked_, {Filled(1), 1});
    for (int i = 0; i < count; ++i) (void)Take(answered_, std::stop_token());
    return double(NowNs() - start_ns) * 1e-3 / count;
  }

 private:
  struct Message {
    Tensor tensor;  // none: the answer to the next message is to be written
    size_t answer = 0;
  };
  using Queue = std::deque<Message>;

  static Tensor Filled(size_t bytes) {
    Tensor tensor(DType::kU8, Shape{int64_t(bytes)});
    std::memset(tensor.mutable_view().data, 1, bytes);
    return tensor;
  }
  static void* Room(std::vector<std::byte>& memory, size_t bytes) {
    if (memory.size() < bytes) memory.resize(bytes);
    return memory.data();
  }

  void Put(Queue& queue, Message message) {
    std::lock_guard lock(mutex_);
    queue.push_back(std::move(message));
    changes_.fetch_add(1, std::memory_order_release);
    changed_.notify_all();
  }
  Message Take(Queue& queue, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto come = [&] { return stop.stop_requested() || !queue.empty(); };
    SpinUntil(lock, changes_, come);
    changed_.wait(lock, come);
    if (queue.empty()) return {};
    Message message = std::move(queue.front());
    queue.pop_front();
    return message;
  }

  void Answer(const std::stop_token& stop) {
    const AdoptedThread adopted(processor_);
    std::vector<std::byte> room;
    Tensor answer;
    for (;;) {
      const Message got = Take(asked_, stop);
      if (stop.stop_requested()) return;
      if (!got.tensor.has_value()) {
        answer = Filled(got.answer);
        Put(answered_, {});
        continue;
      }
      const Tensor message = processor_.Import(got.tensor);
      std::memcpy(Room(room, message.bytes()), message.data(), message.bytes());
      Put(answered_, {processor_.Export(answer), 0});
    }
  }

  Processor& processor_;
  std::vector<std::byte> here_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<uint32_t> changes_{0};
  Queue asked_, answered_;
  std::jthread there_;  // last: it uses all of the above
};

}  // namespace

GraphTimes TimeOn(Processor& processor, const Graph& graph, int runs, Turn& turn, const CancelToken* cancel,
                  TimedGraph& prepared) {
  const std::string text = ToText(graph);
  const bool fresh = text != prepared.text || !prepared.ready;
  if (fresh) {
    prepared = {};
    prepared = {text, processor.Prepare(graph)};
  }
  const AdoptedThread adopted(processor);  // as a deployment's thread
  const MakeTensor memory = processor.SharedMemory();
  GraphTimes times =
      TimeRuns(*prepared.ready, graph, MadeUpInputs(graph, graph.inputs, memory), runs, turn, cancel, memory);
  times.prepare_ms = fresh ? prepared.ready->prepare_ms() : 0;
  return times;
}

std::unique_ptr<MemberProgram> LocalMember::Host(const ProgramToHost& program, PlanEvents& events,
                                                 const WeightsProgress&, std::vector<std::string>*) {
  return std::make_unique<LocalProgram>(processor_, turn_, program, events);
}

// Keeps the processor, which the session's memory may outlive.
MakeTensor LocalMember::SharedMemory() {
  MakeTensor make = processor_->SharedMemory();
  if (!make) return nullptr;
  return [processor = processor_, make = std::move(make)](DType type, const Shape& shape) {
    return make(type, shape);
  };
}

void LocalMember::ForgetShares() {
  std::lock_guard lock(timing_);
  timed_ = {};
}

GraphTimes LocalMember::Time(const Graph& graph, int runs, std::chrono::milliseconds) {
  std::lock_guard lock(timing_);
  return TimeOn(*processor_, graph, runs, turn_, &cancelled_, timed_);
}

std::unique_ptr<Echo> LocalMember::OpenEcho() { return std::make_unique<LocalEcho>(*processor_); }

LinkProfile LocalMember::MeasureHandOver(Member& to) {
  const AdoptedThread adopted(*processor_);
  return MeasureLink(*to.OpenEcho());
}

}  // namespace mete
