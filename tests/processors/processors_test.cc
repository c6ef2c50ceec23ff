// What every kind of processor keeps, whatever it computes on: the ONNX node cases that it claims, bits of
// one processor, order, errors, cancellation, several shares at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <thread>
#include <tuple>

#include "base/errors_testing.h"
#include "graph/flops.h"
#include "kinds.h"
#include "partition/random_graphs_testing.h"
#include "processor/cpu/cpu_testing.h"
#include "processor/emulated/emulated.h"
#include "tests/conformance/case.h"
#include "tests/conformance/table.h"

namespace mete {
namespace {

enum class Kernels { kReference, kFast };

SessionOptions OptionsOf(Kernels kernels) {
  return kernels == Kernels::kReference ? ReferenceOptions() : SessionOptions::Estimated(1);
}

// A graph with inputs, and what the reference kernels make of them.
struct Expected {
  Expected(const Graph& graph, uint32_t seed, Kernels kernels)
      : inputs(RandomInputs(graph, seed)),
        outputs(ReferenceCpu().Prepare(graph)->Run(inputs, {})),
        tolerance(kernels == Kernels::kReference ? 0 : ToleranceOf(graph, inputs)) {}

  // How far fast kernels may be from the outputs: an epsilon of the largest value for each term of the sums
  // on the way.
  static double ToleranceOf(const Graph& graph, const std::vector<Tensor>& inputs) {
    double largest = 1, terms = 0;
    for (const Tensor& value : EvaluateAll(graph, inputs))
      if (value.has_value() && value.type() == DType::kF32)
        for (int64_t i = 0; i < value.elements(); ++i)
          largest = std::max(largest, double(std::abs(value.as<float>()[i])));
    for (const Node& node : graph.nodes) {
      const double sums = double(graph.value(node.outputs[0]).shape.Elements());
      terms += std::max(1., double(Flops(graph, node)) / 2 / std::max(1., sums));
    }
    return std::numeric_limits<float>::epsilon() * terms * largest;
  }

  void ExpectIn(const std::vector<Tensor>& got) const {
    ASSERT_EQ(got.size(), outputs.size());
    for (size_t o = 0; o < got.size(); ++o) {
      ASSERT_EQ(got[o].type(), outputs[o].type());
      ASSERT_EQ(got[o].shape(), outputs[o].shape());
      if (tolerance == 0) {
        EXPECT_EQ(std::memcmp(got[o].data(), outputs[o].data(), outputs[o].bytes()), 0) << o;
        continue;
      }
      for (int64_t i = 0; i < outputs[o].elements(); ++i)
        ASSERT_NEAR(got[o].as<float>()[i], outputs[o].as<float>()[i], tolerance)
            << "output " << o << " element " << i;
    }
  }

  const std::vector<Tensor> inputs, outputs;
  const double tolerance;  // 0: the same bits
};

// Views of tensors, as Start() takes them.
struct Views {
  Views(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
    for (const Tensor& input : inputs) in.push_back(input.view());
    for (Tensor& output : outputs) out.push_back(output.mutable_view());
  }
  std::vector<ConstView> in;
  std::vector<View> out;
};

// Memory for outputs like these.
std::vector<Tensor> MemoryLike(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> memory;
  for (const Tensor& output : outputs) memory.emplace_back(output.type(), output.shape());
  return memory;
}

// The error of a run; nothing where it has none.
std::optional<Error> ErrorOfRun(Ready& ready, const std::vector<Tensor>& inputs, const CancelToken& cancel) {
  try {
    (void)ready.Run(inputs, {.cancel = &cancel});
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

class Processors : public testing::TestWithParam<std::tuple<size_t, Kernels>> {
 protected:
  Processors()
      : kind(AllKinds()[std::get<0>(GetParam())]),
        kernels(kind.has_reference ? std::get<1>(GetParam()) : Kernels::kFast) {}

  void SetUp() override {
    if (kernels != std::get<1>(GetParam())) GTEST_SKIP() << "it has no reference kernels";
    if (const std::string why = kind.why_not_here(); !why.empty()) GTEST_SKIP() << why;
    made = kind.make(OptionsOf(kernels));
    processor = made.processor;
  }

  // A random graph that the processor can compute: of `seed`, or of the first one after it for which that is
  // so.
  RandomGraph RandomClaimed(uint32_t seed, int nodes) const {
    constexpr uint32_t kBetween = 1000, kMost = 1'000'000;
    for (; seed < kMost; seed += kBetween) {
      RandomGraph random(seed, nodes);
      const auto is_claimed = [&](const Node& node) { return processor->WhyNot(random.graph, node).empty(); };
      if (std::all_of(random.graph.nodes.begin(), random.graph.nodes.end(), is_claimed)) return random;
    }
    throw std::logic_error("the processor computes no random graph");
  }

  // The error of a run whose token is set at the gate, if there is one, and after so many turns of the
  // thread.
  std::optional<Error> ErrorOfRunCancelled(Ready& ready, const std::vector<Tensor>& inputs, int turns) const {
    CancelToken cancel;
    std::atomic<bool> begins{false};
    std::thread canceller([&] {
      while (!begins) std::this_thread::yield();
      if (made.gate) made.gate->AwaitRun();
      for (int i = 0; i < turns; ++i) std::this_thread::yield();
      cancel.Cancel();
    });
    begins = true;
    const std::optional<Error> error = ErrorOfRun(ready, inputs, cancel);
    canceller.join();
    return error;
  }

  const Kind kind;
  const Kernels kernels;
  MadeProcessor made;
  std::shared_ptr<Processor> processor;
};

INSTANTIATE_TEST_SUITE_P(All, Processors,
                         testing::Combine(testing::Range<size_t>(0, AllKinds().size()),
                                          testing::Values(Kernels::kReference, Kernels::kFast)),
                         [](const auto& info) {
                           return AllKinds()[std::get<0>(info.param)].name +
                                  (std::get<1>(info.param) == Kernels::kFast ? "_fast" : "_reference");
                         });

TEST_P(Processors, FollowsTheThreadsOfAPlanOrRefusesThem) {
  const RandomGraph random = RandomClaimed(4, 6);
  const Expected expected(random.graph, 4, kernels);
  const auto share = processor->Prepare(random.graph);
  if (const ThreadPlan* threads = share->thread_plan()) {
    expected.ExpectIn(processor->PrepareAsPlanned(random.graph, *threads)->Run(expected.inputs, {}));
    ThreadPlan others = *threads;
    others.cores = {1 << 20};
    EXPECT_TELLS(processor->PrepareAsPlanned(random.graph, others), "are not this processor's");
    return;
  }
  EXPECT_TELLS(processor->PrepareAsPlanned(random.graph, {}), "cannot follow the plan's threads");
}

TEST_P(Processors, HasANameAndAKind) {
  EXPECT_FALSE(processor->info().name.empty());
  EXPECT_FALSE(processor->info().kind.empty());
}

TEST_P(Processors, PassesTheOnnxNodeCasesThatItClaims) {
  const std::filesystem::path data = "build/conformance/data";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no ONNX node cases; try tools/conformance.sh";
  int not_claimed = 0, passed = 0;
  for (const auto& row : conformance::ReadTable("tests/conformance/results.tsv")) {
    if (conformance::StatusOf(row.at(1)) != conformance::Status::kPassed) continue;
    const conformance::Outcome outcome = conformance::RunCaseOn(*processor, data / row[0]);
    not_claimed += outcome.status == conformance::Status::kNotClaimed;
    passed += outcome.status == conformance::Status::kPassed;
    EXPECT_TRUE(outcome.status == conformance::Status::kPassed ||
                outcome.status == conformance::Status::kNotClaimed)
        << row[0] << ": " << conformance::Name(outcome.status) << ": " << outcome.reason;
  }
  RecordProperty("passed", passed);
  RecordProperty("not_claimed", not_claimed);
  EXPECT_LE(not_claimed, kind.not_claimed);
  EXPECT_GT(passed, 0);
}

TEST_P(Processors, GivesTheAnswersOfTheReference) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomGraph random = RandomClaimed(seed, int(seed % 8) + 2);
    const Expected expected(random.graph, seed, kernels);
    const std::shared_ptr<Ready> ready = processor->Prepare(random.graph);
    for (int run = 0; run < 2; ++run) expected.ExpectIn(ready->Run(expected.inputs, {}));
  }
}

TEST_P(Processors, ComputesValuesWithoutElements) {
  Builder b;
  b.Output(b.Op("Sigmoid", {b.Input({0, 3})}));
  InferShapes(b.graph);
  const Expected expected(b.graph, 1, kernels);
  expected.ExpectIn(processor->Prepare(b.graph)->Run(expected.inputs, {}));
}

TEST_P(Processors, WritesIntoTheCallersMemory) {
  const RandomGraph random = RandomClaimed(3, 6);
  const Expected expected(random.graph, 3, kernels);
  const std::shared_ptr<Ready> ready = processor->Prepare(random.graph);
  std::vector<Tensor> outputs = MemoryLike(expected.outputs);
  const Views views(expected.inputs, outputs);
  ready->Start(views.in, views.out, {});
  ready->Wait();
  expected.ExpectIn(outputs);
}

TEST_P(Processors, TensorsOfAnotherTypeOrShapeAreRefused) {
  const RandomGraph random = RandomClaimed(3, 6);
  const Expected expected(random.graph, 3, kernels);
  const std::shared_ptr<Ready> ready = processor->Prepare(random.graph);
  std::vector<Tensor> of_type, of_shape;
  for (const Tensor& input : expected.inputs) {
    of_type.push_back(Tensor(DType::kU8, input.shape()));
    of_shape.push_back(Tensor(input.type(), {1}));
  }
  EXPECT_TELLS((void)ready->Run(of_type, {}), "wrong input");
  EXPECT_TELLS((void)ready->Run(of_shape, {}), "wrong input");
  EXPECT_TELLS((void)ready->Run(std::vector<Tensor>(), {}), "wrong number of inputs; got 0, expected 1");
  expected.ExpectIn(ready->Run(expected.inputs, {}));
}

// A kernel would write past the end of memory that is too small.
TEST_P(Processors, ViewsOfAnotherTypeOrShapeAreRefused) {
  const RandomGraph random = RandomClaimed(3, 6);
  const Expected expected(random.graph, 3, kernels);
  const std::shared_ptr<Ready> ready = processor->Prepare(random.graph);
  std::vector<Tensor> outputs = MemoryLike(expected.outputs);
  const auto refusal = [&](const std::function<void(Views&)>& spoil) {
    Views views(expected.inputs, outputs);
    spoil(views);
    return ErrorOf([&] {
      ready->Start(views.in, views.out, {});
      ready->Wait();
    });
  };
  const auto expect_refused = [&](const std::string& why, const std::function<void(Views&)>& spoil) {
    EXPECT_NE(refusal(spoil).find(why), std::string::npos) << "got: " << refusal(spoil);
  };
  expect_refused("wrong input", [](Views& v) { v.in[0].type = DType::kU8; });
  expect_refused("wrong input", [](Views& v) { v.in[0].shape = {1}; });
  expect_refused("wrong number of inputs", [](Views& v) { v.in.clear(); });
  expect_refused("wrong output", [](Views& v) { v.out[0].type = DType::kU8; });
  expect_refused("wrong output", [](Views& v) { v.out[0].shape = {1}; });
  expect_refused("wrong number of outputs", [](Views& v) { v.out.pop_back(); });
  EXPECT_EQ(refusal([](Views&) {}), "no error");
  expected.ExpectIn(outputs);
}

// What one processor exports, another one imports: neither changes what its sender still has.
TEST_P(Processors, ImportsAndExportsTensorsAsTheyAre) {
  const RandomGraph random = RandomClaimed(3, 6);
  const Expected expected(random.graph, 3, kernels);
  const std::shared_ptr<Ready> ready = processor->Prepare(random.graph);
  std::vector<Tensor> imported, exported;
  for (const Tensor& input : expected.inputs) imported.push_back(processor->Import(input));
  for (const Tensor& output : ready->Run(imported, {})) exported.push_back(processor->Export(output));
  expected.ExpectIn(exported);
  const std::vector<Tensor> unchanged = RandomInputs(random.graph, 3);
  for (const std::vector<Tensor>& inputs : {imported, expected.inputs})
    for (size_t i = 0; i < unchanged.size(); ++i) {
      ASSERT_EQ(inputs[i].type(), unchanged[i].type());
      ASSERT_EQ(inputs[i].shape(), unchanged[i].shape());
      EXPECT_EQ(std::memcmp(inputs[i].data(), unchanged[i].data(), unchanged[i].bytes()), 0);
    }
  const Tensor none(DType::kI64, {0, 3});
  EXPECT_EQ(processor->Export(processor->Import(none)).shape(), none.shape());
}

TEST_P(Processors, RunsOfSeveralThreadsTakeTurns) {
  const RandomGraph random = RandomClaimed(5, 6);
  const std::shared_ptr<Ready> ready = processor->Prepare(random.graph);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Expected expected(random.graph, t + 1, kernels);
      for (int run = 0; run < 5; ++run) expected.ExpectIn(ready->Run(expected.inputs, {}));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Processors, SeveralSharesRunAtOnce) {
  const RandomGraph a = RandomClaimed(7, 6), b = RandomClaimed(8, 6);
  const std::shared_ptr<Ready> of_a = processor->Prepare(a.graph), of_b = processor->Prepare(b.graph);
  std::vector<std::thread> threads;
  for (const auto& [ready, graph] : {std::pair{of_a, &a.graph}, std::pair{of_b, &b.graph}})
    threads.emplace_back([this, ready = ready, graph = graph] {
      const Expected expected(*graph, 2, kernels);
      for (int run = 0; run < 5; ++run) expected.ExpectIn(ready->Run(expected.inputs, {}));
    });
  for (std::thread& thread : threads) thread.join();
}

// Steps that no pass joins.
Graph Softmaxes(int steps) {
  Builder b;
  ValueId x = b.Input({64, 128});
  for (int i = 0; i < steps; ++i) x = b.Op("Softmax", {x});
  b.Output(x);
  InferShapes(b.graph);
  return b.graph;
}

TEST_P(Processors, ARunThatWasCancelledBeforeSaysSo) {
  const Graph graph = Softmaxes(3);
  const std::shared_ptr<Ready> ready = processor->Prepare(graph);
  CancelToken cancel;
  cancel.Cancel();
  const std::optional<Error> error = ErrorOfRun(*ready, RandomInputs(graph, 4), cancel);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::kCancelled) << error->what();
}

constexpr int kAttempts = 500;  // guess: 20 are mostly enough

// A member's run is cancelled while its share waits at the gate. Elsewhere the token is set a little later in
// each attempt, until a run ends neither before its first step nor after its last one.
TEST_P(Processors, ARunIsCancelledWhileItIsUnderWay) {
  const Graph graph = Softmaxes(200);
  const Expected expected(graph, 4, kernels);
  const std::shared_ptr<Ready> ready = processor->Prepare(graph);
  CancelToken set;
  set.Cancel();
  const std::optional<Error> before = ErrorOfRun(*ready, expected.inputs, set);
  ASSERT_TRUE(before);
  if (made.gate) made.gate->Close();
  std::optional<Error> error;
  int attempts = 0;
  for (int later = 0; attempts < kAttempts; ++attempts, later = error ? later + 1 : 0) {
    error = ErrorOfRunCancelled(*ready, expected.inputs, later);
    if (error && std::string(error->what()) != before->what()) break;
  }
  ASSERT_LT(attempts, kAttempts) << "each run ended before its first step or after its last one";
  EXPECT_EQ(error->code(), Code::kCancelled) << error->what();
  if (made.gate) made.gate->AwaitNobody();  // the member has given it up, too
  if (made.gate) made.gate->Open();
  expected.ExpectIn(ready->Run(expected.inputs, {}));
}

TEST_P(Processors, WhatItCannotComputeIsAnErrorOfPrepareThatNamesEveryNode) {
  Builder b;
  const ValueId x = b.Input({4});
  b.graph.AddNode("Unheard", "first", {x}, {b.graph.AddValue("y", DType::kF32, {4})});
  b.graph.AddNode("Unheard", "second", {x}, {b.graph.AddValue("z", DType::kF32, {4})});
  b.graph.outputs = {b.graph.nodes[0].outputs[0], b.graph.nodes[1].outputs[0]};
  const std::string error = ErrorOf([&] { (void)processor->Prepare(b.graph); });
  for (const char* node : {"[first]", "[second]"})
    EXPECT_NE(error.find(node), std::string::npos) << "no " << node << " in: " << error;
}

// --- what only an emulated processor does

Graph Squares() {
  Builder b;
  const ValueId x = b.Input({1, 8});
  b.Output(b.Op("Mul", {x, x}));
  InferShapes(b.graph);
  return b.graph;
}

std::shared_ptr<Emulated> Failing(const std::string& fails) {
  return std::make_shared<Emulated>("gpu", ReferenceOptions(), 1, Emulation{0, 0, 0, 0, {}, fails});
}

TEST(EmulatedProcessor, FailsWhereItIsAskedTo) {
  const Graph graph = Squares();
  const std::vector<Tensor> inputs = RandomInputs(graph, 1);
  EXPECT_TELLS(Failing("prepare")->Prepare(graph), "[gpu] fails to prepare");

  const auto in_run = Failing("run 2");
  const auto ready = in_run->Prepare(graph);
  (void)ready->Run(inputs, {});
  EXPECT_TELLS(ready->Run(inputs, {}), "[gpu] fails in this run");
  (void)ready->Run(inputs, {});

  const auto lost = Failing("lost 1");
  const auto of_lost = lost->Prepare(graph);
  for (int run = 0; run < 2; ++run) EXPECT_TELLS(of_lost->Run(inputs, {}), "[gpu] is lost");
  EXPECT_TELLS(lost->Prepare(graph), "[gpu] is lost");

  const auto hangs = Failing("hang 1");
  const auto of_hanging = hangs->Prepare(graph);
  CancelToken cancel;
  std::thread canceller([&] { cancel.Cancel(); });
  EXPECT_TELLS(of_hanging->Run(inputs, {.cancel = &cancel}), "[gpu] hung until the run was cancelled");
  canceller.join();
}

TEST(EmulatedProcessor, LacksTheTypesThatItIsToldTo) {
  Emulated gpu("gpu", ReferenceOptions(), 1, Emulation{0, 0, 0, 0, {"f32"}, ""});
  const Graph graph = Squares();
  EXPECT_EQ(gpu.WhyNot(graph, graph.nodes[0]), "gpu cannot compute f32");
  EXPECT_TELLS(gpu.Prepare(graph), "cannot be computed here: gpu cannot compute f32");
}

}  // namespace
}  // namespace mete
