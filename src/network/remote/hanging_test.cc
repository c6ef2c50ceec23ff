// Workers that hang somewhere, and how long others wait for them; and one that sends what cannot be read.
#include <sys/mman.h>

#include <atomic>

#include "base/errors_testing.h"
#include "run/compare_plans.h"
#include "run/member_processor.h"
#include "network/remote/workers_testing.h"

namespace mete {
namespace {

using std::chrono::milliseconds;

enum class Where { kHello, kWeights, kReady, kRequest, kFails, kNonsense };

// A worker that goes so far and no further, until its caller gives it up.
class Hanging : public pb::Worker::Service {
 public:
  Hanging(Where where, int port) : where_(where) {
    grpc::ServerBuilder builder;
    LimitServer(builder);
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Hanging() override { server_->Shutdown(std::chrono::system_clock::now()); }

  int port() const { return port_; }
  bool WaitUntilItHangs() const {
    for (int i = 0; i < 1000 && !hangs_; ++i) std::this_thread::sleep_for(milliseconds(10));
    return hangs_;
  }

  grpc::Status Hello(grpc::ServerContext* context, const pb::HelloRequest*, pb::HelloReply* reply) override {
    reply->set_protocol(kProtocol);
    return where_ == Where::kHello ? Hang(*context) : grpc::Status::OK;
  }
  grpc::Status Missing(grpc::ServerContext*, const pb::Digests* asked, pb::Digests* missing) override {
    if (where_ == Where::kWeights) *missing = *asked;
    return grpc::Status::OK;
  }
  grpc::Status Store(grpc::ServerContext* context, grpc::ServerReader<pb::WeightChunk>*,
                     pb::Stored*) override {
    return Hang(*context);
  }
  grpc::Status Serve(grpc::ServerContext* context,
                     grpc::ServerReaderWriter<pb::FromWorker, pb::ToWorker>* stream) override {
    pb::FromWorker ready;
    ready.mutable_ready();
    if (where_ != Where::kReady) stream->Write(ready);
    if (where_ == Where::kNonsense) return SayNonsense(*context, *stream);
    if (where_ == Where::kFails) return FailAndReadOn(*stream);
    return Hang(*context);
  }

 private:
  // Fails when a request begins, and reads what there is of it some time later.
  static grpc::Status FailAndReadOn(grpc::ServerReaderWriter<pb::FromWorker, pb::ToWorker>& stream) {
    pb::ToWorker message;
    for (int i = 0; i < 2; ++i) (void)stream.Read(&message);  // the program, the beginning
    pb::FromWorker failure;
    failure.mutable_failure()->set_processor(1);
    failure.mutable_failure()->set_code(int(Code::kUnavailable));
    stream.Write(failure);
    std::this_thread::sleep_for(milliseconds(300));
    while (stream.Read(&message)) {}
    return grpc::Status::OK;
  }

  // A piece that is not the last of its message.
  grpc::Status SayNonsense(const grpc::ServerContext& context,
                           grpc::ServerReaderWriter<pb::FromWorker, pb::ToWorker>& stream) {
    pb::ToWorker message;
    for (int i = 0; i < 2; ++i) (void)stream.Read(&message);  // the program, the beginning
    pb::FromWorker nonsense;
    nonsense.mutable_frame()->set_data("piece");
    pb::FromWorker::GetReflection()->MutableUnknownFields(&nonsense)->AddLengthDelimited(99, "more");
    stream.Write(nonsense);
    return Hang(context);
  }

  grpc::Status Hang(const grpc::ServerContext& context) {
    hangs_ = true;
    while (!context.IsCancelled()) std::this_thread::sleep_for(milliseconds(5));
    return grpc::Status::CANCELLED;
  }

  const Where where_;
  int port_ = 0;
  std::atomic<bool> hangs_{false};
  std::unique_ptr<grpc::Server> server_;
};

std::unique_ptr<PoolSession> Open(const Workers& workers, const PoolSessionOptions& options) {
  std::vector<std::unique_ptr<Member>> all(1);
  for (size_t w = 0; w < workers.ports.size(); ++w)
    all.push_back(std::make_unique<RemoteMember>(
        RemoteAddress{workers.costs.processors[w + 1].name, workers.AddressOf(w)}, Security{}));
  return std::make_unique<PoolSession>(workers.random.graph, workers.costs, HomeOfTests(), std::move(all),
                                       options);
}

double SecondsOf(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(PoolSession, EndsAtOnceWhateverADeviceLetsItWaitFor) {
  const std::pair<Where, const char*> cases[] = {{Where::kWeights, "dynamic"},
                                                 {Where::kReady, "dynamic"},
                                                 {Where::kRequest, "dynamic"},
                                                 {Where::kRequest, "fss"}};
  for (const auto& [where, planner] : cases) {
    SCOPED_TRACE(testing::Message() << int(where) << " " << planner);
    Workers workers(1, 3);
    workers.Stop(0);
    PoolSessionOptions options;

    options.planner = planner;
    auto session = Open(workers, options);
    const Hanging hanging(where, workers.ports[0]);
    ASSERT_TRUE(hanging.WaitUntilItHangs());
    EXPECT_LT(SecondsOf([&] { session.reset(); }), 1);
  }
}

TEST(PoolSession, IsNotMadeAnyMoreWhenItsMakerIsInterrupted) {
  for (const Where where : {Where::kWeights, Where::kReady, Where::kRequest}) {
    SCOPED_TRACE(testing::Message() << int(where));
    Workers workers(1, 3);
    workers.Stop(0);
    const Hanging hanging(where, workers.ports[0]);
    CancelToken interrupt;
    PoolSessionOptions options;

    options.cancel = &interrupt;
    const std::jthread interrupter([&] {
      EXPECT_TRUE(hanging.WaitUntilItHangs());
      interrupt.Cancel();
    });
    EXPECT_LT(SecondsOf([&] { EXPECT_TELLS(Open(workers, options), "interrupted before there was a plan"); }),
              2);
  }
}

TEST(PoolSession, PlansAreNotComparedWhileOneIsDeployed) {
  Workers workers(2, 3);
  workers.Stop(1);
  PoolSessionOptions options;

  options.trial = options.remake = false;
  options.deploy.ready_timeout = milliseconds(1500);
  const auto session = Open(workers, options);
  const Hanging hanging(Where::kReady, workers.ports[1]);
  ASSERT_TRUE(hanging.WaitUntilItHangs());
  std::vector<ComparedPlan> compared;
  // until the other one is given up
  EXPECT_GT(SecondsOf([&] { compared = ComparePlans(*session, {"layerwise"}, workers.inputs, 1); }), 0.5);
  EXPECT_EQ(compared.size(), 4u);  // chosen, alone on each of two, layerwise
  EXPECT_EQ(session->stats().lost, 2);
}

TEST(PoolSession, AsksAllDevicesAtTheSameTime) {
  Workers workers(4, 3);
  std::vector<std::unique_ptr<Hanging>> hanging;
  for (size_t w = 0; w < 4; ++w) {
    workers.Stop(w);
    hanging.push_back(std::make_unique<Hanging>(Where::kHello, workers.ports[w]));
  }
  PoolSessionOptions options;

  EXPECT_LT(SecondsOf([&] { Open(workers, options); }), 2.5);  // each is waited for a second
}

TEST(PoolSession, AnswersWithoutADeviceWhoseMessagesCannotBeRead) {
  Workers workers(1, 3);
  workers.Stop(0);
  const Hanging hanging(Where::kNonsense, workers.ports[0]);
  PoolSessionOptions options;

  options.trial = options.remake = false;
  std::mutex mutex;
  std::string notes;
  options.tell = [&](const std::string& note) {
    std::lock_guard lock(mutex);
    notes += note + "\n";
  };
  const auto session = Open(workers, options);
  workers.ExpectWhole(session->Run(workers.inputs));
  EXPECT_GE(session->stats().lost, 1);
  std::lock_guard lock(mutex);
  EXPECT_NE(notes.find("is not where it is expected"), std::string::npos) << notes;
}

TEST(MemberProcessor, WhatItWasLentIsTheCallersWhenARunHasFailed) {
  const Hanging fails(Where::kFails, 0);
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
  std::this_thread::sleep_for(milliseconds(600));  // until the rest was read
}

}  // namespace
}  // namespace mete
