// What every kind of processor keeps, whatever it computes on: bits of one processor, order, errors,
// cancellation, several shares at once. The kinds are those of processor/make, and members.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include "base/errors_testing.h"
#include "partition/random_graphs_testing.h"
#include "processor/cpu/cpu_testing.h"
#include "processor/emulated/emulated.h"
#include "processor/make/make_processor.h"
#include "run/local_member.h"
#include "run/member_processor.h"

namespace mete {
namespace {

struct Kind {
  std::string name;
  std::function<std::shared_ptr<Processor>()> make;
};

// A member of this process, seen as a processor: deployments, inboxes and hand-overs on the way.
class OverAMember : public Processor {
 public:
  OverAMember()
      : member_(std::make_shared<Cpu>("member", ReferenceOptions())), processor_(member_, ReferenceCpu()) {}
  const ProcessorInfo& info() const override { return processor_.info(); }
  std::string WhyNot(const Graph& graph, const Node& node) const override {
    return processor_.WhyNot(graph, node);
  }
  std::shared_ptr<Ready> Prepare(const Graph& share) override { return processor_.Prepare(share); }

 private:
  LocalMember member_;
  MemberProcessor processor_;
};

std::vector<Kind> AllProcessors() {
  std::vector<Kind> all{
      {"member", [] { return std::make_shared<OverAMember>(); }},
      {"emulated_slow",
       [] {
         return std::make_shared<Emulated>("gpu", ReferenceOptions(), 0.5, Emulation{20, 10, 5, 0, {}, ""});
       }},
  };
  for (const std::string& kind : ProcessorKinds())
    all.push_back({kind, [kind] { return MakeProcessor({.name = kind, .kind = kind}, ReferenceOptions()); }});
  return all;
}

class Processors : public testing::TestWithParam<size_t> {
 protected:
  Processors() : processor(AllProcessors()[GetParam()].make()) {}
  const std::shared_ptr<Processor> processor;
};

INSTANTIATE_TEST_SUITE_P(All, Processors, testing::Range<size_t>(0, AllProcessors().size()),
                         [](const auto& info) { return AllProcessors()[info.param].name; });

void ExpectEqual(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].shape(), expected[i].shape());
    EXPECT_EQ(std::memcmp(got[i].data(), expected[i].data(), expected[i].bytes()), 0) << i;
  }
}

TEST_P(Processors, HasANameAndAKind) {
  EXPECT_FALSE(processor->info().name.empty());
  EXPECT_FALSE(processor->info().kind.empty());
}

TEST_P(Processors, GivesTheBitsOfTheReference) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomGraph random(seed, int(seed % 8) + 2);
    const std::vector<Tensor> inputs = RandomInputs(random.graph, seed);
    const std::vector<Tensor> expected = ReferenceCpu().Prepare(random.graph)->Run(inputs, {});
    const std::shared_ptr<Ready> ready = processor->Prepare(random.graph);
    for (int run = 0; run < 2; ++run) ExpectEqual(ready->Run(inputs, {}), expected);
  }
}

TEST_P(Processors, WritesIntoTheCallersMemory) {
  const RandomGraph random(3, 6);
  const std::vector<Tensor> inputs = RandomInputs(random.graph, 3);
  const std::shared_ptr<Ready> ready = processor->Prepare(random.graph);
  const std::vector<Tensor> expected = ready->Run(inputs, {});
  std::vector<Tensor> outputs;
  std::vector<ConstView> in;
  std::vector<View> out;
  for (const Tensor& input : inputs) in.push_back(input.view());
  for (const Tensor& e : expected) outputs.emplace_back(e.type(), e.shape());
  for (Tensor& output : outputs) out.push_back(output.mutable_view());
  ready->Start(in, out, {});
  ready->Wait();
  ExpectEqual(outputs, expected);
}

TEST_P(Processors, TensorsOfAnotherTypeOrShapeAreRefused) {
  const RandomGraph random(3, 6);
  const std::vector<Tensor> inputs = RandomInputs(random.graph, 3);
  const std::shared_ptr<Ready> ready = processor->Prepare(random.graph);
  std::vector<Tensor> of_type, of_shape;
  for (const Tensor& input : inputs) {
    of_type.push_back(Tensor(DType::kU8, input.shape()));
    of_shape.push_back(Tensor(input.type(), {1}));
  }
  EXPECT_THROW((void)ready->Run(of_type, {}), Error);
  EXPECT_THROW((void)ready->Run(of_shape, {}), Error);
}

TEST_P(Processors, RunsOfSeveralThreadsTakeTurns) {
  const RandomGraph random(5, 6);
  const std::shared_ptr<Ready> ready = processor->Prepare(random.graph);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const std::vector<Tensor> inputs = RandomInputs(random.graph, t + 1);
      const std::vector<Tensor> expected = ReferenceCpu().Prepare(random.graph)->Run(inputs, {});
      for (int run = 0; run < 5; ++run) ExpectEqual(ready->Run(inputs, {}), expected);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Processors, SeveralSharesRunAtOnce) {
  const RandomGraph a(7, 6), b(8, 6);
  const std::shared_ptr<Ready> of_a = processor->Prepare(a.graph), of_b = processor->Prepare(b.graph);
  std::vector<std::thread> threads;
  for (const auto& [ready, graph] : {std::pair{of_a, &a.graph}, std::pair{of_b, &b.graph}})
    threads.emplace_back([ready = ready, graph = graph] {
      const std::vector<Tensor> inputs = RandomInputs(*graph, 2);
      const std::vector<Tensor> expected = ReferenceCpu().Prepare(*graph)->Run(inputs, {});
      for (int run = 0; run < 5; ++run) ExpectEqual(ready->Run(inputs, {}), expected);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Processors, ARunThatWasCancelledBeforeSaysSo) {
  const RandomGraph random(4, 6);
  const std::shared_ptr<Ready> ready = processor->Prepare(random.graph);
  CancelToken cancel;
  cancel.Cancel();
  try {
    (void)ready->Run(RandomInputs(random.graph, 4), {.cancel = &cancel});
    FAIL() << "was not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCancelled) << error.what();
  }
}

TEST_P(Processors, WhatItCannotComputeIsAnErrorOfPrepareThatNamesEveryNode) {
  Builder b;
  const ValueId x = b.Input({4});
  b.graph.AddNode("Unheard", "first", {x}, {b.graph.AddValue("y", DType::kF32, {4})});
  b.graph.AddNode("Unheard", "second", {x}, {b.graph.AddValue("z", DType::kF32, {4})});
  b.graph.outputs = {b.graph.nodes[0].outputs[0], b.graph.nodes[1].outputs[0]};
  EXPECT_THROW((void)processor->Prepare(b.graph), Error);
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
