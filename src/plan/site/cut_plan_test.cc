#include "plan/site/cut_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/clock_testing.h"
#include "base/errors_testing.h"
#include "partition/random_graphs_testing.h"
#include "plan/pool/program.h"
#include "plan/site/cut_model.h"
#include "processor/cpu/cpu_testing.h"
#include "processor/wrapped_testing.h"
#include "run/deployed_plan.h"
#include "run/local_member.h"

namespace mete {
namespace {

const std::vector<std::string> kNames{"phone", "server"};

// Moves what reads values of the server's layers to the server, so that nothing comes back.
void Close(const CutModel& model, OnDevice& on_device) {
  for (size_t l = 0; l < on_device.size(); ++l)
    for (const CutValue& value : model.values)
      if (value.producer == int(l) && !on_device[l])
        for (const int reader : value.readers) on_device[size_t(reader)] = false;
}

// Runs no passes: those that fuse nodes on both sides of a cut would round otherwise.
class AsItIs : public Wrapped {
 public:
  AsItIs() : Wrapped(std::make_shared<Cpu>("server", ReferenceOptions())) {}
  std::shared_ptr<Ready> Prepare(const Graph& share) override { return ReferenceReady(share); }
};

// Computes a request by a plan on two processors of this process.
std::vector<Tensor> Computed(const CutPlan& cut, const std::vector<Tensor>& inputs) {
  LocalMember server(std::make_shared<AsItIs>());
  FakeClock clock;  // nobody is late
  DeployOptions options;
  options.clock = &clock;
  std::vector<std::string> notes;
  DeployedPlan deployed(
      cut.graph, cut.plan, HomeProcessor{ReferenceCpu(), ReferenceReady}, {nullptr, &server}, options,
      [](const std::string&, int64_t, int64_t) {}, &notes);
  return deployed.Run(inputs, std::chrono::seconds(1));
}

void ExpectSame(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i].shape(), want[i].shape());
    EXPECT_EQ(std::memcmp(got[i].data(), want[i].data(), want[i].bytes()), 0);
  }
}

// Checks a cut that may be: the answers, and that it sends what its cost counts.
void ExpectComputes(const Graph& graph, const OnDevice& on_device) {
  const CutPlan cut = PlanOfCut(graph, on_device, kNames);
  Verify(cut.graph);
  Verify(cut.plan, cut.graph);
  ASSERT_EQ(cut.plan.groups.size(), 2u);
  const std::vector<Tensor> inputs = RandomInputs(graph, 7);
  ExpectSame(Computed(cut, inputs), ReferenceReady(graph)->Run(inputs, {}));
  const Sent sent = SentBy(CutModel(graph), on_device, 0);
  const std::vector<Program> programs = ProgramsOf(cut.graph, cut.plan);
  EXPECT_EQ(ReceivedBytes(programs[1], 1), sent.up_bytes);
  EXPECT_EQ(ReceivedBytes(programs[0], 0), sent.down_bytes);
}

TEST(PlanOfCut, ComputesWhatTheWholeComputes) {
  int cuts = 0, branching = 0, answers_on_both = 0, refused = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 12) + 2);
    const CutModel model(random.graph);
    OnDevice on_device;
    for (size_t l = 0; l < model.layers.size(); ++l) on_device.push_back(random.Pick(0, 3) > 0);
    Close(model, on_device);
    if (!HasBothSides(on_device)) continue;
    if (!on_device[0]) {  // the first layer may begin with a cheap node
      try {
        (void)PlanOfCut(random.graph, on_device, kNames);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::kUnimplemented) << error.what();
        ++refused;
        continue;
      }
    }
    ExpectComputes(random.graph, on_device);
    ++cuts;
    branching += !std::is_sorted(on_device.rbegin(), on_device.rend());
    const CutPlan cut = PlanOfCut(random.graph, on_device, kNames);
    answers_on_both += cut.plan.groups[1].placement.processors.size() > 1;
  }
  EXPECT_GT(cuts, 50);
  EXPECT_GT(branching, 10);
  EXPECT_GT(answers_on_both, 10);
  EXPECT_LT(refused, 20);
}

TEST(PlanOfCut, EveryCutOfAGraphWithBranches) {
  Builder b;
  const ValueId x = b.Conv(b.Input({1, 2, 8, 8}), 2, 4, 3, {1, 1, 1, 1});
  const ValueId left = b.Conv(x, 4, 4, 1, {0, 0, 0, 0}), right = b.Conv(x, 4, 4, 3, {1, 1, 1, 1});
  const ValueId far = b.Conv(right, 4, 4, 3, {1, 1, 1, 1});
  Attributes axis;
  axis.Set("axis", int64_t(1));
  b.Output(b.Op("Concat", {left, far, x}, axis));
  b.Output(right);  // an answer that other layers read
  InferShapes(b.graph);
  const CutModel model(b.graph);
  const size_t layers = model.layers.size();
  ASSERT_EQ(layers, 5u);
  int cuts = 0;
  for (uint32_t bits = 1; bits + 1 < (1u << layers); ++bits) {
    OnDevice on_device;
    for (size_t l = 0; l < layers; ++l) on_device.push_back(bits >> l & 1);
    OnDevice closed = on_device;
    Close(model, closed);
    if (closed != on_device) continue;
    SCOPED_TRACE(testing::Message() << "cut " << bits);
    ExpectComputes(b.graph, on_device);
    ++cuts;
  }
  EXPECT_EQ(cuts, 6);  // conv 1 alone; with left, right, both, right and far; and without the join alone
}

TEST(PlanOfCut, RefusesWhatIsNoCut) {
  Builder b;
  ValueId x = b.Input({1, 2, 8, 8});
  for (int i = 0; i < 3; ++i) x = b.Conv(x, 2, 2, 3, {1, 1, 1, 1});
  b.Output(x);
  InferShapes(b.graph);
  EXPECT_TELLS(PlanOfCut(b.graph, {true, false, true}, kNames),
               "[cut] the device's layer 'Conv2' reads what the server's layer 'Conv1' makes");
  EXPECT_TELLS(PlanOfCut(b.graph, {true}, kNames), "got 1 layers, expected 3");
  EXPECT_TELLS(PlanOfCut(b.graph, {true, true, true}, kNames), "gives the server no layer");
  EXPECT_TELLS(PlanOfCut(b.graph, {false, false, false}, kNames), "gives the device no layer");
}

}  // namespace
}  // namespace mete
