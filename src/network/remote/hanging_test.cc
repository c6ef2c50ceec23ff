// Workers that hang somewhere, and what others do then; and one that sends what cannot be read. Where
// something must end although a worker hangs, nothing else would end it: no clock moves unless the test moves
// it.
#include <sys/mman.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock_testing.h"
#include "base/errors_testing.h"
#include "run/compare_plans.h"
#include "run/member_processor.h"
#include "network/remote/workers_testing.h"

namespace mete {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::hours kLong{1};

enum class Where { kHello, kWeights, kReady, kRequest, kFails, kNonsense };

// Counts what happens on other threads.
class Counter {
 public:
  void Add() {
    {
      std::lock_guard lock(mutex_);
      ++count_;
    }
    changed_.notify_all();
  }
  void Await(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }
  int count() {
    std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

// A worker that goes so far and no further, until it ends.
class Hanging : public pb::Worker::Service {
 public:
  Hanging(Where where, int port) : where_(where) {
    grpc::ServerBuilder builder;
    LimitServer(builder);
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Hanging() override {
    ends.Add();
    server_->Shutdown(std::chrono::system_clock::now());
  }

  int port() const { return port_; }

  Counter hangs, ends;
  Counter read_on;  // kFails: the rest may be read
  Counter rest;     // kFails: it was read
  size_t rest_bytes = 0;

  grpc::Status Hello(grpc::ServerContext*, const pb::HelloRequest*, pb::HelloReply* reply) override {
    reply->set_protocol(kProtocol);
    return where_ == Where::kHello ? Hang() : grpc::Status::OK;
  }
  grpc::Status Missing(grpc::ServerContext*, const pb::Digests* asked, pb::Digests* missing) override {
    if (where_ == Where::kWeights) *missing = *asked;
    return grpc::Status::OK;
  }
  grpc::Status Store(grpc::ServerContext*, grpc::ServerReader<pb::WeightChunk>*, pb::Stored*) override {
    return Hang();
  }
  grpc::Status Serve(grpc::ServerContext*,
                     grpc::ServerReaderWriter<pb::FromWorker, pb::ToWorker>* stream) override {
    pb::FromWorker ready;
    ready.mutable_ready();
    if (where_ != Where::kReady) stream->Write(ready);
    if (where_ == Where::kNonsense) return SayNonsense(*stream);
    if (where_ == Where::kFails) return FailAndReadOn(*stream);
    return Hang();
  }

 private:
  // Fails when a request begins, and reads the rest of it when it is told to.
  grpc::Status FailAndReadOn(grpc::ServerReaderWriter<pb::FromWorker, pb::ToWorker>& stream) {
    pb::ToWorker message;
    for (int i = 0; i < 2; ++i) (void)stream.Read(&message);  // the program, the beginning
    pb::FromWorker failure;
    failure.mutable_failure()->set_processor(1);
    failure.mutable_failure()->set_code(int(Code::kUnavailable));
    stream.Write(failure);
    read_on.Await(1);
    for (size_t bytes = 0; bytes < rest_bytes && stream.Read(&message);)
      bytes += message.frame().data().size();
    rest.Add();
    return Hang();
  }

  // A piece that is not the last of its message.
  grpc::Status SayNonsense(grpc::ServerReaderWriter<pb::FromWorker, pb::ToWorker>& stream) {
    pb::ToWorker message;
    for (int i = 0; i < 2; ++i) (void)stream.Read(&message);  // the program, the beginning
    pb::FromWorker nonsense;
    nonsense.mutable_frame()->set_data("piece");
    pb::FromWorker::GetReflection()->MutableUnknownFields(&nonsense)->AddLengthDelimited(99, "more");
    stream.Write(nonsense);
    return Hang();
  }

  grpc::Status Hang() {
    hangs.Add();
    ends.Await(1);
    return grpc::Status::CANCELLED;
  }

  const Where where_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

std::unique_ptr<PoolSession> Open(const Workers& workers, PoolSessionOptions options, FakeClock& clock) {
  options.deploy.clock = &clock;
  options.hello_timeout = kLong;
  std::vector<std::unique_ptr<Member>> all(1);
  for (size_t w = 0; w < workers.ports.size(); ++w)
    all.push_back(std::make_unique<RemoteMember>(
        RemoteAddress{workers.costs.processors[w + 1].name, workers.AddressOf(w)}, Security{}));
  return std::make_unique<PoolSession>(workers.random.graph, workers.costs, HomeOfTests(), std::move(all),
                                       options);
}

// Moves the clock on until a session has tried the worker again, which hangs.
void AwaitHanging(Hanging& hanging, FakeClock& clock) {
  clock.AdvanceUntil(Keeper::kLook, [&] { return hanging.hangs.count() > 0; });
}

TEST(PoolSession, EndsWhateverADeviceLetsItWaitFor) {
  const std::pair<Where, const char*> cases[] = {{Where::kWeights, "dynamic"},
                                                 {Where::kReady, "dynamic"},
                                                 {Where::kRequest, "dynamic"},
                                                 {Where::kRequest, "fss"}};
  for (const auto& [where, planner] : cases) {
    SCOPED_TRACE(testing::Message() << int(where) << " " << planner);
    Workers workers(1, 3);
    workers.Stop(0);
    FakeClock clock;
    PoolSessionOptions options;
    options.planner = planner;
    auto session = Open(workers, options, clock);
    Hanging hanging(where, workers.ports[0]);
    AwaitHanging(hanging, clock);
    session.reset();
  }
}

TEST(PoolSession, IsNotMadeAnyMoreWhenItsMakerIsInterrupted) {
  for (const Where where : {Where::kWeights, Where::kReady, Where::kRequest}) {
    SCOPED_TRACE(testing::Message() << int(where));
    Workers workers(1, 3);
    workers.Stop(0);
    Hanging hanging(where, workers.ports[0]);
    CancelToken interrupt;
    FakeClock clock;
    PoolSessionOptions options;
    options.cancel = &interrupt;
    const std::jthread interrupter([&] {
      hanging.hangs.Await(1);
      interrupt.Cancel();
    });
    EXPECT_TELLS(Open(workers, options, clock), "interrupted before there was a plan");
  }
}

TEST(PoolSession, PlansAreNotComparedWhileOneIsDeployed) {
  Workers workers(2, 3);
  workers.Stop(1);
  FakeClock clock;
  PoolSessionOptions options;
  options.trial = options.remake = false;
  options.deploy.ready_timeout = kLong;
  const auto session = Open(workers, options, clock);
  Hanging hanging(Where::kReady, workers.ports[1]);
  AwaitHanging(hanging, clock);
  std::atomic<bool> given_up{false}, done{false};
  std::thread comparing([&] {
    const std::vector<ComparedPlan> compared = ComparePlans(*session, {"layerwise"}, workers.inputs, 1);
    EXPECT_TRUE(given_up);
    EXPECT_EQ(compared.size(), 4u);  // chosen, alone on each of two, layerwise
    EXPECT_EQ(session->stats().lost, 2);
    done = true;
  });
  clock.AwaitSleeper(kLong, kLong);  // a deployment: that of the worker that answers, or the one that hangs
  // Long enough for the worker that answers to be ready; its deployment would be given up too.
  for (int i = 0; i < 1'000'000 && !done; ++i) std::this_thread::yield();
  given_up = true;
  clock.AdvanceUntil(kLong, [&] { return session->stats().lost >= 2; });
  comparing.join();
}

TEST(PoolSession, AsksAllDevicesAtTheSameTime) {
  Workers workers(4, 3);
  std::vector<std::unique_ptr<Hanging>> hanging;
  for (size_t w = 0; w < 4; ++w) {
    workers.Stop(w);
    hanging.push_back(std::make_unique<Hanging>(Where::kHello, workers.ports[w]));
  }
  FakeClock clock;
  CancelToken interrupt;
  PoolSessionOptions options;
  options.cancel = &interrupt;
  std::thread making([&] { EXPECT_THROW(Open(workers, options, clock), Error); });
  for (const auto& worker : hanging) worker->hangs.Await(1);  // each does not answer yet
  interrupt.Cancel();
  making.join();
}

TEST(PoolSession, AnswersWithoutADeviceWhoseMessagesCannotBeRead) {
  Workers workers(1, 3);
  workers.Stop(0);
  const Hanging hanging(Where::kNonsense, workers.ports[0]);
  FakeClock clock;
  PoolSessionOptions options;
  options.trial = options.remake = false;
  std::mutex mutex;
  std::string notes;
  options.tell = [&](const std::string& note) {
    std::lock_guard lock(mutex);
    notes += note + "\n";
  };
  const auto session = Open(workers, options, clock);
  workers.ExpectWhole(session->Run(workers.inputs));
  EXPECT_GE(session->stats().lost, 1);
  std::lock_guard lock(mutex);
  EXPECT_NE(notes.find("is not where it is expected"), std::string::npos) << notes;
}

TEST(MemberProcessor, WhatItWasLentIsTheCallersWhenARunHasFailed) {
  Hanging fails(Where::kFails, 0);
  RemoteMember remote({"worker-1", "127.0.0.1:" + std::to_string(fails.port())}, {});
  Builder b;
  const Shape shape{1, 16, 1024, 1024};  // more than is on its way at a time
  b.Output(b.Op("Relu", {b.Input(shape)}));
  InferShapes(b.graph);
  const auto ready = MemberProcessor(remote, ReferenceCpu()).Prepare(b.graph);
  const size_t bytes = size_t(shape.Elements()) * sizeof(float);
  void* const lent = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(lent, MAP_FAILED);
  Tensor result(DType::kF32, shape);
  const std::vector<ConstView> inputs{{lent, DType::kF32, shape}};
  const std::vector<View> outputs{result.mutable_view()};
  EXPECT_THROW(ready->Run(inputs, outputs, {}), ProcessorError);
  munmap(lent, bytes);
  fails.rest_bytes = bytes;
  fails.read_on.Add();
  fails.rest.Await(1);
}

}  // namespace
}  // namespace mete
