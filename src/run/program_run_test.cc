#include "run/program_run.h"

#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "base/clock_testing.h"
#include "base/errors_testing.h"
#include "partition/random_graphs_testing.h"
#include "plan/pool/branches.h"
#include "plan/pool/forks_testing.h"
#include "plan/pool/named.h"
#include "plan/pool/segments.h"
#include "processor/cpu/cpu_testing.h"
#include "processor/gated_testing.h"
#include "run/program_bytes.h"

namespace mete {
namespace {

// Processors of one process: what one sends is in the other's inbox at once, coded, in chunks of some bytes.
class Processors {
 public:
  Processors(const Graph& graph, const Plan& plan, Coding coding, const MakeReady& make) : coding_(coding) {
    for (Program& program : ProgramsOf(graph, plan)) {
      const int processor = int(prepared_.size());
      prepared_.push_back(
          std::make_unique<PreparedProgram>(std::move(program), processor, ReferenceCpu(), make));
    }
  }

  std::vector<Tensor> Run(const std::vector<Tensor>& inputs) {
    std::vector<std::unique_ptr<Inbox>> inboxes;
    for (const auto& p : prepared_)
      inboxes.push_back(std::make_unique<Inbox>(p->program(), p->index(), coding_));
    std::vector<std::vector<Tensor>> outputs(prepared_.size());
    std::vector<std::thread> threads;
    for (size_t d = 0; d < prepared_.size(); ++d)
      threads.emplace_back([&, d] {
        Post post{*this, int(d), inboxes};
        Turn turn;
        ProgramMemory memory;
        prepared_[d]->Run(d == 0 ? inputs : std::vector<Tensor>{}, *inboxes[d], post, turn, memory);
        outputs[d] = memory.held;
      });
    for (std::thread& t : threads) t.join();
    return outputs[0];
  }

 private:
  struct Post : Outbox {
    Post(Processors& processors, int from, std::vector<std::unique_ptr<Inbox>>& inboxes)
        : processors(processors), from(from), inboxes(inboxes) {}
    void Send(int to, const PieceId& id, Tensor piece) override {
      const std::string bytes = Encode(processors.coding_, piece.view());
      for (size_t at = 0; at < bytes.size(); at += 100)
        inboxes[size_t(to)]->Put(from, id, int64_t(at), std::string_view(bytes).substr(at, 100));
    }
    Processors& processors;
    const int from;
    std::vector<std::unique_ptr<Inbox>>& inboxes;
  };

  const Coding coding_;
  std::vector<std::unique_ptr<PreparedProgram>> prepared_;
};

PoolCosts RandomPool(RandomGraph& random, const Graph& graph, int processors) {
  PoolCosts pool;
  for (int d = 0; d < processors; ++d) {
    ProcessorCosts processor{std::string(1, char('a' + d)),
                             {double(random.Pick(0, 20)), 0, double(random.Pick(5000, 90000)), 100000},
                             {}};
    for (size_t l = 0; l < LayersOf(graph).size(); ++l)
      processor.layers.push_back({double(random.Pick(50, 300)), 0});
    pool.processors.push_back(std::move(processor));
  }
  return pool;
}

double MeasureNothing(const Plan& plan) { return plan.predicted_us; }

// What a request needs of other processors at all, over all processors.
int64_t SentBytes(const Graph& graph, const Plan& plan) {
  int64_t bytes = 0;
  const std::vector<Program> programs = ProgramsOf(graph, plan);
  for (size_t d = 0; d < programs.size(); ++d) bytes += ReceivedBytes(programs[d], int(d));
  return bytes;
}

void ExpectSameBits(const std::vector<Tensor>& parts, const std::vector<Tensor>& whole, const Graph& graph) {
  ASSERT_EQ(parts.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    ASSERT_EQ(parts[i].shape(), whole[i].shape());
    ASSERT_EQ(std::memcmp(parts[i].data(), whole[i].data(), whole[i].bytes()), 0) << ToText(graph);
  }
}

TEST(ProgramRun, AnyPlanOnSeveralProcessorsGivesTheBitsOfOne) {
  int sent = 0, plans = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 10) + 2);
    const std::vector<Tensor> inputs = RandomInputs(random.graph, seed);
    const std::vector<Tensor> whole = ReferenceReady(random.graph)->Run(inputs, {});
    const PoolCosts pool = RandomPool(random, random.graph, 3);
    for (const std::string& planner : PoolPlanners()) {
      SCOPED_TRACE(planner);
      const Plan plan = PlanPoolBy(planner, random.graph, pool, MeasureNothing);
      sent += SentBytes(random.graph, plan) > 0;
      ++plans;
      ExpectSameBits(Processors(random.graph, plan, Coding::kF32, ReferenceReady).Run(inputs), whole,
                     random.graph);
    }
  }
  EXPECT_GT(sent, plans / 3);
}

// Groups under these placements, which end at these boundaries.
Plan GroupsOf(const Graph& graph, const PoolCosts& pool,
              const std::vector<std::pair<int, Placement>>& groups) {
  std::vector<Segment> segments;
  for (const auto& [end, placement] : groups)
    segments.push_back({segments.empty() ? 0 : segments.back().end, end, placement});
  PoolModel model(graph, pool);
  Plan plan = PlanOf(model, segments);
  NamePlan(plan, graph, NamesOf(pool), "test");
  return plan;
}

// Every group that may end in branches side by side, before one on another processor and before one by rows.
TEST(ProgramRun, BranchesSideBySideGiveTheBitsOfOneDevice) {
  int plans = 0, idle = 0;
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomFork fork(seed);
    RandomGraph random(seed, 1);
    const PoolCosts pool = RandomPool(random, fork.graph, 3);
    const std::vector<Tensor> inputs = RandomInputs(fork.graph, seed);
    const std::vector<Tensor> whole = ReferenceReady(fork.graph)->Run(inputs, {});
    PoolModel model(fork.graph, pool);
    const int layers = model.boundaries();
    for (int b = 1; b <= layers; ++b)
      for (const Placement& branches : BranchPlacements(model, b))
        for (const Placement& then : {WholeOn(1), Placement{SplitAxis::kRows, {0, 2}, {0.4, 0.6}}}) {
          const Plan plan = GroupsOf(fork.graph, pool, {{b, branches}, {layers, then}});
          ExpectSameBits(Processors(fork.graph, plan, Coding::kF32, ReferenceReady).Run(inputs), whole,
                         fork.graph);
          for (const Program& program : ProgramsOf(fork.graph, plan))
            idle += program.stages[0].graph.nodes.empty();
          ++plans;
        }
  }
  EXPECT_GT(plans, 200);
  EXPECT_GT(idle, 50);  // processors without a value of their own
}

// The largest difference beside the largest value.
double Apart(const Tensor& a, const Tensor& b) {
  double difference = 0, largest = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    difference = std::max(difference, std::abs(double(a.as<float>()[i]) - double(b.as<float>()[i])));
    largest = std::max(largest, std::abs(double(b.as<float>()[i])));
  }
  return largest > 0 ? difference / largest : difference;
}

// Convolutions and a residual over 24 rows, halves on two processors.
struct ResidualNet {
  ResidualNet() {
    const ValueId x = b.Input({1, 4, 24, 20});
    const ValueId a = b.Op("Relu", {b.Conv(x, 4, 8, 3, {1, 1, 1, 1})});
    b.Output(
        b.Op("Add", {b.Conv(b.Op("Relu", {b.Conv(a, 8, 8, 3, {1, 1, 1, 1})}), 8, 8, 3, {1, 1, 1, 1}), a}));
    InferShapes(b.graph);
    for (const char* name : {"a", "b"}) pool.processors.push_back({name, {0, 0, 1e5, 1e5}, {}});
    for (ProcessorCosts& processor : pool.processors)
      processor.layers.assign(LayersOf(b.graph).size(), {1000, 0});
    plan = PlanPool(b.graph, pool);
    inputs = RandomInputs(b.graph, 3);
    whole = FastReady(b.graph)->Run(inputs, {})[0];
  }
  double ApartBy(Coding coding) {
    return Apart(Processors(b.graph, plan, coding, FastReady).Run(inputs)[0], whole);
  }
  Builder b;
  PoolCosts pool;
  Plan plan;
  std::vector<Tensor> inputs;
  Tensor whole;
};

TEST(ProgramRun, FastKernelsAreWithinTheirErrorAndCodingsWithinTheirs) {
  ResidualNet net;
  ASSERT_GT(SentBytes(net.b.graph, net.plan), 0);
  // Sums of 72 products by Winograd's F(4x4) or directly: some hundred epsilons. A value is rounded up to
  // twice on its way, and three layers may each double what comes in: 2^-11 and 1/510 of the range, times 8.
  EXPECT_LT(net.ApartBy(Coding::kF32), 1e-5);
  const double f16 = net.ApartBy(Coding::kF16), u8 = net.ApartBy(Coding::kU8);
  EXPECT_LT(f16, 8.0 / 2048);
  EXPECT_LT(u8, 8.0 / 255);
  EXPECT_GT(f16, net.ApartBy(Coding::kF32));
  EXPECT_GT(u8, f16);
}

TEST(ProgramRun, SharesAreMadeReadyWithTheConstantsOfTheOtherSharesOfTheirProgram) {
  ResidualNet net;
  // two groups of halves: of rows, then of channels
  const int layers = int(LayersOf(net.b.graph).size());
  const Plan plan = GroupsOf(net.b.graph, net.pool,
                             {{layers - 1, {SplitAxis::kRows, {0, 1}, {0.5, 0.5}}},
                              {layers, {SplitAxis::kChannels, {0, 1}, {0.5, 0.5}}}});
  for (const Program& program : ProgramsOf(net.b.graph, plan)) {
    int64_t all = 0;
    for (const ProgramStage& stage : program.stages) all += ConstantBytes(stage.graph);
    int shares = 0;
    const auto make = [&](const Graph& share) {
      EXPECT_GT(share.other_constant_bytes, 0);
      EXPECT_EQ(ConstantBytes(share) + share.other_constant_bytes, all);
      ++shares;
      return ReferenceReady(share);
    };
    const PreparedProgram prepared(program, 0, ReferenceCpu(), make);
    EXPECT_EQ(shares, 2);
  }
}

struct SendsNothing : Outbox {
  void Send(int, const PieceId&, Tensor) override { ADD_FAILURE(); }
};

// A half of the channels is not contiguous in the whole, which is put together of this processor's half and
// another one's.
TEST(ProgramRun, AHalfThatTheProcessorHeldIsKeptWithoutACopy) {
  const Part first = Part::Of(3, {0, 4}), second = Part::Of(3, {4, 8});
  ProgramStage stage;
  stage.needs = {{0, DType::kF32, {1, 2, 2, 8}, {{0, 0, Part::All(), first}, {1, 0, Part::All(), second}}}};
  stage.kept = {{0, first}, {0, second}};
  stage.holds = {{1, 2, 2, 4}, {1, 2, 2, 4}};
  const PreparedProgram prepared({{stage}}, 0, ReferenceCpu(), ReferenceReady);
  std::vector<float> values(16);
  std::iota(values.begin(), values.end(), 0.0f);
  const Tensor own = Tensor::Floats({1, 2, 2, 4}, values), others = Tensor::Floats({1, 2, 2, 4}, values);
  Inbox inbox(prepared.program(), 0, Coding::kF32);
  inbox.Put(1, {0, 0, 1}, others);
  SendsNothing outbox;
  Turn turn;
  ProgramMemory memory;
  prepared.Run(std::vector{own}, inbox, outbox, turn, memory);
  ASSERT_EQ(memory.held.size(), 2u);
  EXPECT_EQ(memory.held[0].data(), own.data());
  EXPECT_EQ(std::memcmp(memory.held[1].data(), others.data(), others.bytes()), 0);
}

TEST(ProgramRun, RefusesAProgramThatDoesNotFitItsGraph) {
  ResidualNet net;
  std::vector<Program> programs = ProgramsOf(net.b.graph, net.plan);
  ASSERT_FALSE(programs[0].stages[0].graph.nodes.empty());
  Program less = programs[0], other = programs[0];
  less.stages[0].inputs.pop_back();
  other.stages[0].inputs[0].need = 7;
  Program cut = programs[0], hold = programs[0], source = programs[0], kept = programs[0];
  cut.stages[0].inputs[0].cut = Part::Of(2, {0, 999});
  hold.stages[0].needs[0].sources[0].hold = 3;
  source.stages[0].needs[0].sources.clear();
  kept.stages[0].kept.push_back({0, Part::All()});
  const std::vector<Shape> first{net.inputs[0].shape()};
  Verify(programs[0], 0, first);
  Verify(programs[1], 1, {});
  Program idle = programs[0];  // gives something that nobody computes
  idle.stages[0].graph.nodes.clear();
  Program type = programs[0];  // a kernel would read what it holds as something else
  type.stages.back().needs[0].type = DType::kI32;
  EXPECT_TELLS(Verify(type, 0, first), "has a source of another type in stage");
  EXPECT_TELLS(Verify(idle, 0, first), "has a graph without nodes in stage 0");
  EXPECT_TELLS(Verify(programs[0], 0, first, 100), "has a need in stage 0 that does not fit");
  EXPECT_TELLS(Verify(less, 0, first), "has a graph with other inputs or outputs in stage 0");
  EXPECT_TELLS(Verify(other, 0, first), "has a part of a need in stage 0");
  EXPECT_TELLS(Verify(cut, 0, first), "has a part of a need in stage 0");
  EXPECT_TELLS(Verify(hold, 0, first), "has a source in stage 0");
  EXPECT_TELLS(Verify(source, 0, first), "has a need without all its sources in stage 0");
  EXPECT_TELLS(Verify(kept, 0, first), "has a graph with other inputs or outputs in stage 0");
}

TEST(Inbox, RefusesWhatIsNotExpectedAndChangesNothing) {
  ResidualNet net;
  const std::vector<Program> programs = ProgramsOf(net.b.graph, net.plan);
  Inbox inbox(programs[1], 1, Coding::kF32);
  const PieceId first{0, 0, 0};
  const std::string byte(1, 'x');
  EXPECT_TELLS(inbox.Put(1, first, 0, byte), "is not expected here");
  EXPECT_TELLS(inbox.Put(0, {0, 9, 0}, 0, byte), "is not expected here");
  EXPECT_TELLS(inbox.Put(0, {-1, 0, 0}, 0, byte), "is not expected here");
  EXPECT_TELLS(inbox.Put(0, first, 1, byte), "other bytes than expected");
  EXPECT_TELLS(inbox.Put(0, first, 0, std::string(1 << 20, 'x')), "other bytes than expected");
  const ProgramNeed& need = programs[1].stages[0].needs[0];
  const Tensor piece(need.type, ShapeOf(need.sources[0].at, need.shape));
  inbox.Put(0, first, 0, {static_cast<const char*>(piece.data()), piece.bytes()});
  EXPECT_EQ(inbox.Take(first).shape(), piece.shape());
  EXPECT_TELLS(inbox.Put(0, first, 0, byte), "other bytes than expected");
}

TEST(Inbox, WhoWaitsGetsTheErrorThatItFailsWith) {
  ResidualNet net;
  const std::vector<Program> programs = ProgramsOf(net.b.graph, net.plan);
  Inbox inbox(programs[1], 1, Coding::kF32);
  std::thread other([&] { inbox.Fail(std::make_exception_ptr(Error(Code::kUnavailable, "[b] is gone"))); });
  EXPECT_TELLS(inbox.Take({0, 0, 0}), "[b] is gone");
  other.join();
}

TEST(Inbox, SaysWhomItWaitsForAndWhoWasLate) {
  ResidualNet net;
  const std::vector<Program> programs = ProgramsOf(net.b.graph, net.plan);
  Inbox inbox(programs[1], 1, Coding::kF32);
  EXPECT_EQ(inbox.waits_for(), -1);
  inbox.Check();
  FakeClock clock;
  inbox.WaitUntil(clock.Now() + std::chrono::milliseconds(200), clock);
  std::thread other([&] {
    while (inbox.waits_for() != 0) std::this_thread::yield();
    clock.Advance(std::chrono::milliseconds(200));
  });
  EXPECT_TELLS(inbox.Take({0, 0, 0}), "did not come in time, from processor 0; it may wait for another");
  other.join();
  EXPECT_EQ(inbox.late(), 0);
  EXPECT_TELLS(inbox.Check(), "this processor has not come to its part of the answer in time");
  EXPECT_EQ(inbox.late(), 1);
}

TEST(Inboxes, AreUsedAgainOnceNobodyHasThemAndAreThenWithoutAPiece) {
  ResidualNet net;
  const std::vector<Program> programs = ProgramsOf(net.b.graph, net.plan);
  const ProgramNeed& need = programs[1].stages[0].needs[0];
  const Tensor piece(need.type, ShapeOf(need.sources[0].at, need.shape));
  Inboxes inboxes(programs[1], 1, Coding::kF32);
  std::shared_ptr<Inbox> first = inboxes.Take();
  const Inbox* const before = first.get();
  first->Put(0, {0, 0, 0}, piece);
  EXPECT_NE(inboxes.Take().get(), before);  // somebody has it
  first.reset();
  first = inboxes.Take();
  EXPECT_EQ(first.get(), before);
  first->Put(0, {0, 0, 0}, piece);  // it has not come yet
  EXPECT_EQ(first->Take({0, 0, 0}).data(), piece.data());
  first.reset();
  inboxes.Clear();
  EXPECT_NE(inboxes.Take(), nullptr);
}

struct NothingSent : Outbox {
  void Send(int, const PieceId&, Tensor) override {}
};

TEST(ProgramRun, WhatIsComputedForARequestThatHasFailedIsGivenUp) {
  Builder b;
  b.Output(b.Op("Relu", {b.Input({1, 32, 64, 64})}));
  InferShapes(b.graph);
  Program program;
  program.stages.resize(1);
  ProgramStage& stage = program.stages[0];
  stage.needs.push_back({kNoValue, DType::kF32, {1, 32, 64, 64}, {{1, 0, Part::All(), Part::All()}}});
  stage.inputs.push_back({0, Part::All()});
  stage.graph = b.graph;
  stage.holds.push_back({1, 32, 64, 64});
  Gated gated(std::make_shared<Cpu>("own", ReferenceOptions()));
  gated.Close();  // what is not given up never ends
  const PreparedProgram prepared(program, 0, gated, [&](const Graph& share) { return gated.Prepare(share); });
  Inbox inbox(prepared.program(), 0, Coding::kF32);
  const Tensor piece = RandomInputs(b.graph, 1)[0];
  inbox.Put(1, {0, 0, 0}, 0, {static_cast<const char*>(piece.data()), piece.bytes()});
  NothingSent outbox;
  Turn turn;
  ProgramMemory memory;
  std::thread other([&] {
    gated.AwaitRun();
    inbox.Fail(std::make_exception_ptr(Error(Code::kUnavailable, "[b] is gone")));
  });
  EXPECT_TELLS(prepared.Run({}, inbox, outbox, turn, memory), "[b] is gone");
  other.join();
}

TEST(RequestBytes, AreAllThatComesInIsPutTogetherComputedHeldAndSent) {
  ResidualNet net;
  const std::vector<Program> programs = ProgramsOf(net.b.graph, net.plan);
  const int64_t in = ReceivedBytes(programs[1], 1);
  int64_t out = 0;
  for (const ProgramStage& stage : programs[1].stages)
    for (const ValueId id : stage.graph.outputs) out += stage.graph.value(id).shape.Elements() * 4;
  ASSERT_GT(in, 0);
  ASSERT_GT(out, 0);
  const int64_t f32 = RequestBytes(programs[1], 1, Coding::kF32);
  EXPECT_GE(f32, 2 * in + 2 * out);
  EXPECT_LT(f32, 4 * (in + out));
  EXPECT_EQ(RequestBytes(programs[1], 1, Coding::kF16), f32 + in);  // which is half as long, of two requests
}

TEST(Coding, RoundTripsWithinWhatTheHeaderSays) {
  const std::vector<float> values{-3, -0.5f, 0, 1e-3f, 0.25f, 7};
  const Tensor t = Tensor::Floats({6}, values);
  for (const Coding coding : {Coding::kF32, Coding::kF16, Coding::kU8}) {
    const std::string bytes = Encode(coding, t.view());
    ASSERT_EQ(int64_t(bytes.size()), CodedBytes(coding, DType::kF32, t.shape()));
    Tensor back(DType::kF32, t.shape());
    Decode(coding, bytes, back.mutable_view());
    const float bound = coding == Coding::kF32   ? 0
                        : coding == Coding::kF16 ? 7.0f / 2048
                                                 : 10.0f / 510 * 1.0001f;
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_LE(std::abs(back.as<float>()[i] - values[i]), bound) << Name(coding) << i;
  }
  EXPECT_EQ(CodingOf("u8"), Coding::kU8);
  EXPECT_TELLS(CodingOf("f8"), "expected f32, f16 or u8");
}

TEST(Coding, KeepsNothingThatIsNotFiniteIn8Bits) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor t = Tensor::Floats({5}, std::vector<float>{NAN, inf, -inf, 1, 2});
  Tensor back(DType::kF32, t.shape());
  Decode(Coding::kU8, Encode(Coding::kU8, t.view()), back.mutable_view());
  const float* v = back.as<float>();
  EXPECT_EQ(v[0], 1);
  EXPECT_NEAR(v[1], 2, 1e-6);
  EXPECT_EQ(v[2], 1);
}

}  // namespace
}  // namespace mete
