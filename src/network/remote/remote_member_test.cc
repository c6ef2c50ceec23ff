// Workers as members of a plan; tests/processors has what a member keeps as a processor.
#include "network/remote/remote_member.h"

#include <cmath>

#include "base/errors_testing.h"
#include "network/remote/workers_testing.h"
#include "run/deployed_plan.h"
#include "run/local_member.h"
#include "run/member_processor.h"

namespace mete {
namespace {

constexpr std::chrono::hours kLong{1};  // of what ends before

// Deploys the workers' plan over these members and compares the answers with those of one device.
void ExpectWholeOver(const Workers& workers, const std::vector<Member*>& members) {
  std::vector<std::string> notes;
  DeployedPlan deployed(
      workers.random.graph, workers.plan, {ReferenceCpu(), ReadyAtHome}, members, {},
      [](const std::string&, int64_t, int64_t) {}, &notes);
  for (int i = 0; i < 3; ++i) workers.ExpectWhole(deployed.Run(workers.inputs, kLong));
}

TEST(RemoteMember, RefusesShapesThatDependOnData) {
  Workers workers(1, 5);
  RemoteMember remote({"worker-1", workers.AddressOf(0)}, {});
  MemberProcessor processor(remote, ReferenceCpu());
  Builder b;
  b.Output(b.Op("NonZero", {b.Input({4})}));
  InferShapes(b.graph);
  EXPECT_NE(processor.WhyNot(b.graph, b.graph.nodes[0]), "");
  EXPECT_TELLS(processor.Prepare(b.graph), "cannot be computed elsewhere");
}

TEST(RemoteMember, RefusesOperatorsOfTheProgramInBranchesToo) {
  Workers workers(1, 5);
  const RemoteMember remote({"worker-1", workers.AddressOf(0)}, {});
  const Node own{"own", "mete.Custom", {}, {}, {}}, relu{"relu", "Relu", {}, {}, {}};
  const auto choice = [](const Node& inner) {
    const auto branch = std::make_shared<Graph>();
    branch->nodes.push_back(inner);
    Node node{"choice", "If", {}, {}, {}};
    node.attributes.Set("then_branch", GraphPtr(branch));
    return node;
  };
  for (const Node& refused : {own, choice(own), choice(choice(own))})
    EXPECT_EQ(remote.WhyNot({}, refused), "an operator of the program's own is computed in its process");
  for (const Node& taken : {relu, choice(relu)}) EXPECT_EQ(remote.WhyNot({}, taken), "");
}

// The home, a processor of this process and a worker: pieces go between all three.
TEST(RemoteMember, SharesAPlanWithProcessorsOfTheCallersProcess) {
  int divided = 0;
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Workers workers(2, seed);  // device 1 is taken by a processor of this process
    LocalMember local(std::make_shared<Cpu>("worker-1", ReferenceOptions()));
    RemoteMember remote({"worker-2", workers.AddressOf(1)}, {});
    ExpectWholeOver(workers, {nullptr, &local, &remote});
    divided += UsedProcessors(workers.plan).size() == 3;
  }
  EXPECT_GE(divided, 3);
}

// Two processors of one worker hand pieces to each other there, and to the home by the network.
TEST(RemoteMember, IsOneOfAWorkersProcessors) {
  int divided = 0;
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Workers workers(2, seed);
    WorkerOptions options;
    for (const char* name : {"a", "b"})
      options.processors.push_back(std::make_shared<Cpu>(name, ReferenceOptions()));
    workers.Stop(0);
    workers.Start(0, options);
    const RemoteAddress address{"worker-1", workers.AddressOf(0)};
    RemoteMember a(address, {}, std::make_shared<DigestMemo>(), "a"),
        b(address, {}, std::make_shared<DigestMemo>(), "b");
    EXPECT_EQ(b.name(), "worker-1/b");
    ExpectWholeOver(workers, {nullptr, &a, &b});
    divided += UsedProcessors(workers.plan).size() == 3;
  }
  EXPECT_GE(divided, 3);
}

TEST(RemoteMember, AWorkerNamesTheProcessorsThatItHas) {
  Workers workers(1, 5);
  RemoteMember member({"worker-1", workers.AddressOf(0)}, {}, std::make_shared<DigestMemo>(), "gpu");
  EXPECT_EQ(member.device().Hello(kLong).processors, std::vector<std::string>{"cpu"});
  EXPECT_TELLS(member.Time(workers.random.graph, 1, kLong),
               "has no processor of this name; got 'gpu', expected one of cpu");
}

}  // namespace
}  // namespace mete
