// Workers that hang somewhere, and how long others wait for them.
#include <atomic>

#include "caller/devices_session.h"
#include "caller/workers_testing.h"

namespace mete {
namespace {

using std::chrono::milliseconds;

enum class Where { kHello, kWeights, kReady, kRequest };

// A worker that goes so far and no further, until its caller gives it up.
class Hanging : public pb::Worker::Service {
 public:
  Hanging(Where where, int port) : where_(where) {
    grpc::ServerBuilder builder;
    LimitServer(builder);
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Hanging() override { server_->Shutdown(std::chrono::system_clock::now()); }

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
  grpc::Status Store(grpc::ServerContext* context, grpc::ServerReader<pb::WeightChunk>*, pb::Stored*) override { return Hang(*context); }
  grpc::Status Serve(grpc::ServerContext* context, grpc::ServerReaderWriter<pb::FromWorker, pb::ToWorker>* stream) override {
    pb::FromWorker ready;
    ready.mutable_ready();
    if (where_ == Where::kRequest) stream->Write(ready);
    return Hang(*context);
  }

 private:
  grpc::Status Hang(const grpc::ServerContext& context) {
    hangs_ = true;
    while (!context.IsCancelled()) std::this_thread::sleep_for(milliseconds(5));
    return grpc::Status::CANCELLED;
  }

  const Where where_;
  std::atomic<bool> hangs_{false};
  std::unique_ptr<grpc::Server> server_;
};

std::unique_ptr<DevicesSession> Open(const Workers& workers, const DevicesSessionOptions& options) {
  std::vector<std::unique_ptr<RemoteDevice>> all(1);
  for (size_t w = 0; w < workers.ports.size(); ++w)
    all.push_back(std::make_unique<RemoteDevice>(RemoteAddress{workers.costs.devices[w + 1].name, workers.AddressOf(w)}, Security{}));
  return std::make_unique<DevicesSession>(workers.random.graph, workers.costs, std::move(all), options);
}

double SecondsOf(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(DevicesSession, EndsAtOnceWhateverADeviceLetsItWaitFor) {
  const std::pair<Where, const char*> cases[] = {
      {Where::kWeights, "dynamic"}, {Where::kReady, "dynamic"}, {Where::kRequest, "dynamic"}, {Where::kRequest, "fss"}};
  for (const auto& [where, planner] : cases) {
    SCOPED_TRACE(testing::Message() << int(where) << " " << planner);
    Workers workers(1, 3);
    workers.Stop(0);
    DevicesSessionOptions options;
    options.session = ReferenceOptions();
    options.planner = planner;
    auto session = Open(workers, options);
    const Hanging hanging(where, workers.ports[0]);
    ASSERT_TRUE(hanging.WaitUntilItHangs());
    EXPECT_LT(SecondsOf([&] { session.reset(); }), 1);
  }
}

TEST(DevicesSession, AsksAllDevicesAtTheSameTime) {
  Workers workers(4, 3);
  std::vector<std::unique_ptr<Hanging>> hanging;
  for (size_t w = 0; w < 4; ++w) {
    workers.Stop(w);
    hanging.push_back(std::make_unique<Hanging>(Where::kHello, workers.ports[w]));
  }
  DevicesSessionOptions options;
  options.session = ReferenceOptions();
  EXPECT_LT(SecondsOf([&] { Open(workers, options); }), 2.5);  // each is waited for a second
}

}  // namespace
}  // namespace mete
