#include "network/worker/worker.h"

#include <grpcpp/generic/generic_stub.h>

#include <new>
#include <stdexcept>
#include <thread>

#include "base/errors_testing.h"
#include "passes/graphs_testing.h"
#include "network/wire/wire.h"
#include "network/protocol/check.h"
#include "src/network/protocol/worker.grpc.pb.h"
#include "processor/cpu/cpu_testing.h"
#include "processor/gated_testing.h"
#include "run/errors.h"

namespace mete {
namespace {

constexpr int64_t kMiB = 1 << 20;

// A call as a stranger can make it: any method, with any bytes.
class AnyCall {
 public:
  AnyCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
          const std::string& message = "")
      : stub_(channel) {
    call_ = stub_.PrepareCall(&context_, method, &done_);
    call_->StartCall(this);
    Next();
    const grpc::Slice bytes(message);
    call_->Write(grpc::ByteBuffer(&bytes, 1), this);
    Next();
  }
  ~AnyCall() {
    context_.TryCancel();
    done_.Shutdown();
    void* tag = nullptr;
    for (bool ok = false; done_.Next(&tag, &ok);) {}
  }
  bool Read() {
    call_->Read(&bytes_, this);
    return Next();
  }
  grpc::StatusCode End() {  // call this after Read() has returned false
    grpc::Status status;
    call_->Finish(&status, this);
    Next();
    return status.error_code();
  }

 private:
  bool Next() {
    void* tag = nullptr;
    bool ok = false;
    return done_.Next(&tag, &ok) && ok;
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue done_;
  grpc::ByteBuffer bytes_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

std::shared_ptr<grpc::Channel> Channel(const Worker& worker) {
  return ChannelTo("127.0.0.1:" + std::to_string(worker.port()), "worker", {});
}

bool Answers(const Worker& worker, const Security& security) {
  grpc::ClientContext context;
  AddToken(context, security);
  pb::HelloReply reply;
  return pb::Worker::NewStub(Channel(worker))->Hello(&context, {}, &reply).ok();
}

constexpr const char* kReflection = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
constexpr const char* kWatch = "/grpc.health.v1.Health/Watch";

TEST(Worker, ReflectsOnlyForThoseWhomItBelieves) {
  WorkerOptions options;
  const Worker open(options);
  EXPECT_TRUE(AnyCall(Channel(open), kReflection).Read());
  options.security.token = "sixteen letters!";
  const Worker closed(options);
  AnyCall call(Channel(closed), kReflection);
  EXPECT_FALSE(call.Read());
  EXPECT_EQ(call.End(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST(Worker, EndsAStreamOfWhatItCannotRead) {
  const Worker worker({});
  const std::pair<std::string, grpc::StatusCode> cases[] = {
      {"", grpc::StatusCode::INVALID_ARGUMENT},  // a message of another kind
      {std::string(3, char(0xff)), grpc::StatusCode::DATA_LOSS},
      // a frame that is longer than the message
      {std::string("\x1a\x05", 2), grpc::StatusCode::DATA_LOSS},
      {std::string("\x1a\x00\x12\x00", 4), grpc::StatusCode::DATA_LOSS}  // a frame with a field after it
  };
  for (const auto& [message, code] : cases) {
    AnyCall serve(Channel(worker), "/mete.worker.v1.Worker/Serve", message);
    EXPECT_FALSE(serve.Read());
    EXPECT_EQ(serve.End(), code) << testing::PrintToString(message);
  }
  pb::Fed strange;
  strange.set_deployment("sixteen letters!");
  strange.set_from(1);
  AnyCall without_piece(Channel(worker), "/mete.worker.v1.Worker/Feed", strange.SerializeAsString());
  EXPECT_FALSE(without_piece.Read());
  EXPECT_EQ(without_piece.End(), grpc::StatusCode::INVALID_ARGUMENT);
  strange.mutable_frame()->set_data("x");
  AnyCall feed(Channel(worker), "/mete.worker.v1.Worker/Feed", strange.SerializeAsString());
  EXPECT_FALSE(feed.Read());
  EXPECT_EQ(feed.End(), grpc::StatusCode::NOT_FOUND);
  EXPECT_TRUE(Answers(worker, {}));
}

TEST(Worker, WhoLacksTheTokenCannotKeepItsThreads) {
  WorkerOptions options;
  options.security.token = "sixteen letters!";
  const Worker worker(options);
  std::vector<std::unique_ptr<AnyCall>> calls;
  for (int c = 0; c < 10; ++c) {
    const auto channel = Channel(worker);
    for (int s = 0; s < 15; ++s) {
      calls.push_back(std::make_unique<AnyCall>(channel, kWatch));
      EXPECT_TRUE(calls.back()->Read());
    }
  }
  EXPECT_TRUE(Answers(worker, options.security));
}

// A graph with weights of `weight_bytes`, and an input and an output of `input_bytes`.
Graph TimedGraph(int64_t weight_bytes, int64_t input_bytes) {
  Builder b;
  b.Output(b.Op("MatMul", {b.Input({1, 256}), b.Weight({256, weight_bytes / 1024})}));
  b.Output(b.Op("Relu", {b.Input({input_bytes / 4})}));
  InferShapes(b.graph);
  return b.graph;
}

grpc::Status Time(const Worker& worker, const Graph& graph, grpc::ClientContext& context,
                  pb::TimeReply* reply) {
  pb::TimeRequest request;
  request.set_protocol(kProtocol);
  request.set_graph(PackGraph(graph).bytes);
  request.set_runs(1);
  return pb::Worker::NewStub(Channel(worker))->Time(&context, request, reply);
}

grpc::Status Time(const Worker& worker, const Graph& graph, pb::TimeReply* reply = nullptr) {
  grpc::ClientContext context;
  pb::TimeReply unread;
  return Time(worker, graph, context, reply ? reply : &unread);
}

TEST(Worker, TimesNothingThatItsMemoryIsTooSmallFor) {
  WorkerOptions options;
  options.memory_bytes = 8 * kMiB;
  const Worker worker(options);
  EXPECT_TRUE(Time(worker, TimedGraph(kMiB / 16, kMiB / 16)).ok());
  for (const auto& [weights, input] :
       {std::pair{7 * kMiB, kMiB / 16}, {kMiB / 16, 7 * kMiB}, {3 * kMiB, 3 * kMiB}}) {
    const grpc::Status status = Time(worker, TimedGraph(weights, input));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_NE(status.error_message().find("[worker] has no memory for"), std::string::npos)
        << status.error_message();
    EXPECT_NE(status.error_message().find("try a larger --memory-gib"), std::string::npos);
  }
  // the memory taken before was given back
  EXPECT_TRUE(Time(worker, TimedGraph(kMiB / 16, kMiB / 16)).ok());
}

TEST(Worker, SaysOfWhateverWentWrongWhoseDoingItIs) {
  EXPECT_EQ(AsError(Error(Code::kDataLoss, "[x] y"), "worker", "less").code(), Code::kDataLoss);
  // callers do not try again at once after RESOURCE_EXHAUSTED
  EXPECT_EQ(AsError(std::bad_alloc(), "worker", "less").code(), Code::kResourceExhausted);
  EXPECT_EQ(AsError(std::runtime_error("z"), "worker", "less").code(), Code::kInternal);
  EXPECT_STREQ(AsError(std::runtime_error("z"), "worker", "less").what(), "[worker] z");
}

TEST(Worker, KeepsWhatItHasTimedLastAndOnlyThat) {
  WorkerOptions options;
  options.memory_bytes = 8 * kMiB;
  const Worker worker(options);
  const Graph graph = TimedGraph(2 * kMiB, kMiB / 2);
  for (int i = 0; i < 5; ++i) {
    pb::TimeReply reply;
    EXPECT_TRUE(Time(worker, graph, &reply).ok());
    EXPECT_EQ(reply.prepare_ms() > 0, i == 0);
  }
  // the memory has no room for both graphs
  EXPECT_TRUE(Time(worker, TimedGraph(2 * kMiB, kMiB / 4)).ok());
  EXPECT_TRUE(Time(worker, graph).ok());
}

TEST(Worker, GivesTheCoresBackWhenWhoTimesHasGone) {
  const auto gated = std::make_shared<Gated>(std::make_shared<Cpu>("cpu", ReferenceOptions()));
  WorkerOptions options;
  options.processors = {gated};
  const Worker worker(options);
  gated->Close();
  grpc::ClientContext context;
  std::thread caller([&] {
    pb::TimeReply reply;
    EXPECT_EQ(Time(worker, TimedGraph(1024, 1024), context, &reply).error_code(),
              grpc::StatusCode::CANCELLED);
  });
  gated->AwaitRun();
  context.TryCancel();
  caller.join();
  gated->AwaitNobody();
  gated->Open();
  EXPECT_TRUE(Time(worker, TimedGraph(1024, 1024)).ok());
}

// A deployment that holds and sends `bytes` for each request; its stages compute nothing.
pb::Deploy Passing(int64_t bytes, int stages, int lanes, const std::string& id) {
  Program program;
  const Shape shape{bytes / 4};
  const ProgramNeed need{kNoValue, DType::kF32, shape, {{0, 0, Part::All(), Part::All()}}};
  for (int s = 0; s < stages; ++s) {
    program.stages.emplace_back();
    if (s > 0) program.stages.back().sends.push_back({0, 0, 0, 0, Part::All()});
    program.stages.back().needs.push_back(need);
    program.stages.back().kept.push_back({0, Part::All()});
    program.stages.back().holds.push_back(shape);
  }
  pb::Deploy deploy;
  deploy.set_protocol(kProtocol);
  deploy.set_id(id);
  deploy.set_index(1);
  deploy.set_lanes(lanes);
  deploy.set_coding("f32");
  for (const pb::Stage& stage : PackProgram(program).stages) *deploy.add_stages() = stage;
  return deploy;
}

// A caller's stream, which ends with the object.
struct Deployed {
  Deployed(const Worker& worker, const pb::Deploy& deploy) : stub(pb::Worker::NewStub(Channel(worker))) {
    stream = stub->Serve(&context);
    pb::ToWorker first;
    *first.mutable_deploy() = Seal(deploy);
    stream->Write(first);
    pb::FromWorker message;
    ready = stream->Read(&message) && message.has_ready();
    if (!ready) status = stream->Finish();
  }
  ~Deployed() {
    context.TryCancel();
    if (ready) (void)stream->Finish();
  }
  std::unique_ptr<pb::Worker::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<pb::ToWorker, pb::FromWorker>> stream;
  bool ready = false;
  grpc::Status status;
};

TEST(Worker, AllDeploymentsTogetherAnnounceNoMoreThanItsMemory) {
  WorkerOptions options;
  options.memory_bytes = 32 * kMiB;
  const Worker worker(options);
  const auto refused = [&](const pb::Deploy& deploy) {
    const Deployed deployed(worker, deploy);
    return !deployed.ready && deployed.status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
           deployed.status.error_message().find("[worker] has no memory for a deployment's requests") == 0;
  };
  {
    // 2 stages of 2 pieces, and one piece that is sent: 5 MiB per lane
    const Deployed one(worker, Passing(kMiB, 2, 4, "deployment no. 1"));
    EXPECT_TRUE(one.ready);
    EXPECT_TRUE(refused(Passing(kMiB, 2, 4, "deployment no. 2")));
    EXPECT_TRUE(Deployed(worker, Passing(kMiB, 2, 2, "deployment no. 2")).ready);
  }
  EXPECT_TRUE(refused(Passing(kMiB, 12, 1, "deployment no. 3")));
  EXPECT_TRUE(refused(Passing(kMiB, 2, 8, "deployment no. 3")));
  // The memory is given back when the first two deployments end, a little later than their streams.
  while (!Deployed(worker, Passing(kMiB, 2, 6, "deployment no. 3")).ready) std::this_thread::yield();
}

}  // namespace
}  // namespace mete
