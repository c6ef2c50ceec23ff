// What workers tell of what they do.
#include <numeric>

#include "base/errors_testing.h"
#include "network/remote/remote_device.h"
#include "network/remote/remote_member.h"
#include "network/remote/workers_testing.h"
#include "run/deployed_plan.h"
#include "src/network/protocol/worker.grpc.pb.h"

namespace mete {
namespace {

constexpr std::chrono::hours kLong{1};  // of what ends before

// A worker that answers Status as it is told to; without an answer it is one that does not know the call.
class Stranger : public pb::Worker::Service {
 public:
  explicit Stranger(std::optional<pb::StatusReply> reply) : reply_(std::move(reply)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Stranger() override { server_->Shutdown(std::chrono::system_clock::now()); }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  grpc::Status Status(grpc::ServerContext* context, const pb::StatusRequest* request,
                      pb::StatusReply* reply) override {
    if (!reply_) return Service::Status(context, request, reply);
    *reply = *reply_;
    return grpc::Status::OK;
  }

 private:
  const std::optional<pb::StatusReply> reply_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

// Workers of a plan in which the only worker has a part.
Workers OfAPlanWithAWorker() {
  for (uint32_t seed = 1;; ++seed) {
    Workers workers(1, seed);
    if (UsedProcessors(workers.plan).size() == 2) return workers;
  }
}

TEST(RemoteStatus, CountsTheRequestsOfAllCallers) {
  const Workers workers = OfAPlanWithAWorker();
  RemoteDevice device({"worker-1", workers.AddressOf(0)}, {});
  const RemoteStatus before = device.Status(kLong);
  EXPECT_EQ(before.requests, 0u);
  EXPECT_EQ(before.deployments, 0);
  EXPECT_EQ(before.most_deployments, WorkerOptions().max_deployments);
  ASSERT_EQ(before.processors.size(), 1u);
  EXPECT_EQ(before.processors[0].name, "cpu");
  EXPECT_EQ(before.processors[0].busy_s, 0);
  EXPECT_GT(before.resident_bytes, 1 << 20);
  EXPECT_EQ(before.most_taken_bytes, WorkerOptions().memory_bytes);
  EXPECT_FALSE(before.machine.empty());

  RemoteMember remote({"worker-1", workers.AddressOf(0)}, {});
  std::vector<std::string> notes;
  DeployedPlan deployed(
      workers.random.graph, workers.plan, {ReferenceCpu(), ReadyAtHome}, {nullptr, &remote}, {},
      [](const std::string&, int64_t, int64_t) {}, &notes);
  for (int i = 0; i < 3; ++i) workers.ExpectWhole(deployed.Run(workers.inputs, kLong));
  const RemoteStatus after = device.Status(kLong);
  EXPECT_EQ(after.deployments, 1);
  EXPECT_GE(after.requests, 2u) << "the last may be counted when its answer is there";
  EXPECT_LE(after.requests, 3u);
  EXPECT_EQ(std::accumulate(after.counts.begin(), after.counts.end(), uint64_t(0)), after.requests);
  EXPECT_EQ(after.counts.size(), after.upper_s.size());
  EXPECT_GT(after.processors[0].busy_s, 0);
  EXPECT_GE(after.sum_s, after.processors[0].busy_s);
  EXPECT_GE(after.uptime_s, before.uptime_s);
}

TEST(RemoteStatus, IsForThoseWhoHaveTheToken) {
  WorkerOptions options;
  options.security.token = "sixteen letters!";
  const Worker worker(options);
  const std::string address = "127.0.0.1:" + std::to_string(worker.port());
  EXPECT_TELLS(RemoteDevice({"closed", address}, {}).Status(kLong), "the token is missing or wrong");
  EXPECT_EQ(RemoteDevice({"closed", address}, options.security).Status(kLong).requests, 0u);
}

TEST(RemoteStatus, AnOlderWorkerDoesNotTell) {
  const Stranger older(std::nullopt);
  RemoteDevice device({"older", older.address()}, {});
  EXPECT_TELLS(device.Status(kLong), "[older] does not tell what it does");
}

TEST(RemoteStatus, BoundsWhatAStrangerTells) {
  pb::StatusReply reply;
  reply.add_count(1);
  const Stranger uneven(reply);
  EXPECT_TELLS(RemoteDevice({"uneven", uneven.address()}, {}).Status(kLong), "tells what no worker does");
  reply.Clear();
  for (int i = 0; i <= kMostProcessorsOfPlan; ++i) reply.add_processors();
  const Stranger large(reply);
  EXPECT_TELLS(RemoteDevice({"large", large.address()}, {}).Status(kLong), "tells what no worker does");
  reply.Clear();
  reply.set_machine("\x1b[31mboard");
  reply.add_processors()->set_weights_bytes(-1);
  const Stranger odd(reply);
  const RemoteStatus status = RemoteDevice({"odd", odd.address()}, {}).Status(kLong);
  EXPECT_EQ(status.machine, "?[31mboard");
  EXPECT_EQ(status.processors[0].memory_bytes, -1);
}

}  // namespace
}  // namespace mete
