#include "profile/pool/pool_profile.h"

#include <atomic>

#include "base/errors_testing.h"
#include "partition/layers.h"
#include "passes/graphs_testing.h"
#include "network/remote/remote_member.h"
#include "network/worker/worker.h"
#include "processor/cpu/cpu_testing.h"

namespace mete {
namespace {

// x -> Conv, Relu, Conv, GlobalAveragePool
Graph SmallNet() {
  Builder b;
  const ValueId x = b.Input({1, 8, 32, 32});
  b.Output(b.Op("GlobalAveragePool", {b.Conv(b.Op("Relu", {b.Conv(x, 8, 16, 3)}), 16, 16, 3)}));
  InferShapes(b.graph);
  return b.graph;
}

PoolProfile Profile(const Graph& graph) {
  const Worker worker({});
  RemoteMember remote({"w", "127.0.0.1:" + std::to_string(worker.port())}, {});
  PoolProfileOptions options;
  options.progress = [](const std::string&, int, int) {};
  return ProfilePool(graph, {"own", "w"}, FastCpu(), {nullptr, &remote}, options);
}

TEST(PoolProfile, HasATimeOfEveryLayerOnEveryDeviceAndTheLink) {
  const Graph graph = SmallNet();
  const PoolProfile profile = Profile(graph);
  Verify(profile.costs, LayersOf(graph).size());
  for (const ProcessorCosts& processor : profile.costs.processors)
    for (size_t l = 0; l < 2; ++l) {
      EXPECT_GT(processor.layers[l].us, 0) << processor.name << l;
      EXPECT_TRUE(processor.layers[l].least_by_channels_us) << processor.name << l;
    }
  EXPECT_GT(profile.links[1].round_trip_us, 0);
  EXPECT_GT(profile.costs.processors[1].link.up_mbit_per_s, 1);
  EXPECT_EQ(profile.digest, DigestOfGraph(graph));
  EXPECT_GT(profile.links[1].busy_up_mbit_per_s, 1);
  ASSERT_GT(profile.links[1].sizes.size(), 1u);
  for (const MessageTimes& times : profile.links[1].sizes)
    for (const double us : {times.up_us, times.down_us, times.busy_up_us, times.busy_down_us})
      EXPECT_GT(us, 0) << times.bytes;
}

// The home's links are the network's; the worker says itself what its memory does.
TEST(PoolProfile, HasTheMemoryOfAWorkerWithSeveralProcessors) {
  WorkerOptions options;
  for (const char* name : {"a", "b"})
    options.processors.push_back(std::make_shared<Cpu>(name, SessionOptions::Estimated()));
  const Worker worker(options);
  const RemoteAddress address{"w", "127.0.0.1:" + std::to_string(worker.port())};
  RemoteMember a(address, {}, std::make_shared<DigestMemo>(), "a"),
      b(address, {}, std::make_shared<DigestMemo>(), "b");
  PoolProfileOptions profile_options;
  profile_options.progress = [](const std::string&, int, int) {};
  const PoolProfile profile =
      ProfilePool(SmallNet(), {"own", "w/a", "w/b"}, FastCpu(), {nullptr, &a, &b}, profile_options);
  const std::vector<ProcessorCosts>& processors = profile.costs.processors;
  EXPECT_FALSE(processors[0].memory);
  ASSERT_TRUE(processors[1].memory && processors[2].memory);
  EXPECT_EQ(processors[1].memory->device, "w");
  EXPECT_EQ(LinkBetween(processors[1], processors[2]).kind, LinkKind::kMemory);
  EXPECT_GT(processors[2].memory->link.down_mbit_per_s, 0);
  EXPECT_EQ(processors[1].memory->link.latency_us, 0) << "what was measured is the other's";
  const std::string text = ToJson(profile);
  EXPECT_EQ(PoolProfileFromJson(text, "file").costs.processors[2].memory, processors[2].memory);
  const auto hand_over = [&](const std::string& to) { return a.device().HandOver("a", to); };
  EXPECT_TELLS(hand_over("a"), "is from a processor to itself");
  EXPECT_TELLS(hand_over("c"), "has no processor of this name; got 'c', expected one of a, b");
}

// A worker that sends back what it gets, and computes nothing.
class Idle : public pb::Worker::Service {
 public:
  Idle() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  int port() const { return port_; }

  grpc::Status Echo(grpc::ServerContext*,
                    grpc::ServerReaderWriter<pb::EchoReply, pb::EchoRequest>* stream) override {
    pb::EchoReply reply;
    for (pb::EchoRequest request; stream->Read(&request);) {
      reply.mutable_data()->resize(size_t(request.answer_bytes()));
      if (!stream->Write(reply)) break;
    }
    return grpc::Status::OK;
  }
  grpc::Status Time(grpc::ServerContext*, const pb::TimeRequest*, pb::TimeReply* reply) override {
    if (timed_++ > 0) return {grpc::StatusCode::RESOURCE_EXHAUSTED, "[worker] computes once"};
    reply->add_us(1);
    return grpc::Status::OK;
  }

 private:
  std::atomic<int> timed_{0};
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST(PoolProfile, ALinkIsNotBusyWhereTheOtherEndDoesNotCompute) {
  const Idle idle;
  RemoteMember remote({"idle", "127.0.0.1:" + std::to_string(idle.port())}, {});
  LinkProfile link = MeasureLink(*remote.OpenEcho());
  EXPECT_TELLS(MeasureBusyLink(remote, FastCpu(), link), "computes once");
}

TEST(PoolProfile, LinksThatNobodyWaitsForAreGivenUp) {
  const Worker worker({});
  RemoteMember remote({"w", "127.0.0.1:" + std::to_string(worker.port())}, {});
  CancelToken cancel;
  PoolProfileOptions options;
  options.progress = [&](const std::string&, int, int) { cancel.Cancel(); };
  options.cancel = &cancel;
  EXPECT_TELLS(ProfileLinks(FastCpu(), {nullptr, &remote}, options), "was interrupted");
  options.cancel = nullptr;
  EXPECT_GT(ProfileLinks(FastCpu(), {nullptr, &remote}, options)[1].sizes.back().busy_down_us, 0);
}

TEST(PoolProfile, ComesBackFromJsonAndNonsenseIsRefused) {
  PoolProfile profile = Profile(SmallNet());
  profile.costs.processors[1].hardware = "2 threads of a CPU";
  profile.costs.processors[1].layers.back() = {.why_not = "no kernel for operator Softmax"};
  const std::string text = ToJson(profile);
  EXPECT_EQ(ToJson(PoolProfileFromJson(text, "file")), text);
  const ProcessorCosts back = PoolProfileFromJson(text, "file").costs.processors[1];
  EXPECT_EQ(back.hardware, "2 threads of a CPU");
  EXPECT_EQ(back.layers, profile.costs.processors[1].layers);
  for (const std::string& bad :
       {std::string("{}"), std::string("nonsense"), std::string("[1,2]"), text.substr(0, text.size() / 2)})
    EXPECT_TELLS(PoolProfileFromJson(bad, "file"), "[file]");
  std::string old = text;
  old.replace(old.find("\"format\":10"), 11, "\"format\":9");
  EXPECT_TELLS(PoolProfileFromJson(old, "file"), "is of another version of mete; got 9, expected 10");
  std::string negative = text;
  const size_t at = negative.find("\"us\":[") + 6;
  negative.insert(at, "-");
  EXPECT_TELLS(PoolProfileFromJson(negative, "file"), "takes no such time");
}

TEST(PoolProfile, AGraphWithOtherShapesHasAnotherDigest) {
  Graph graph = SmallNet();
  const std::string before = DigestOfGraph(graph);
  graph.nodes[0].attributes.Set("group", int64_t(8));
  EXPECT_NE(DigestOfGraph(graph), before);
}

}  // namespace
}  // namespace mete
