// Control flow that is decided within a run.
#include "processor/cpu/bodies.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "graph/ops/control_flow_testing.h"
#include "kernels/fast/matvec/few_bits.h"
#include "passes/pass.h"
#include "plan/threads/thread_plan.h"
#include "processor/cpu/executor.h"

namespace mete {
namespace {

ValueId Input(Graph& graph, const char* name, DType type, const Shape& shape) {
  graph.inputs.push_back(graph.AddValue(name, type, shape));
  return graph.inputs.back();
}

// A graph after its passes, ready on some threads.
class Prepared {
 public:
  Prepared(Graph graph, bool reference, int threads, Precision precision = Precision::kF32)
      : graph_(std::move(graph)), kernels_({threads, {}, reference}) {
    (void)RunPasses(graph_, {.optimize = !reference, .precision = precision});
    plan_ = PlanOneCpu(graph_, {"test", {{"cluster0", {0, 1, 2}}}, 1 << 30}, {threads});
    executor_.emplace(graph_, plan_, kernels_);
  }

  std::vector<ConstView> Run(const std::vector<Tensor>& inputs, const RunOptions& options = {}) {
    std::vector<ConstView> in;
    for (const Tensor& t : inputs) in.push_back(t.view());
    results_.assign(graph_.outputs.size(), {});
    std::vector<View> out(results_.size());
    for (size_t i = 0; i < out.size(); ++i) {
      const ConstView& view = executor_->output(i);
      if (!view.shape.known() || !view.present()) continue;
      results_[i] = Tensor(view.type, view.shape);
      out[i] = results_[i].mutable_view();
    }
    executor_->Run(in, out, options);
    std::vector<ConstView> got;
    for (size_t i = 0; i < out.size(); ++i) got.push_back(out[i].present() ? out[i] : executor_->Output(i));
    return got;
  }
  std::vector<StepInfo> Steps() const { return executor_->Steps({}); }

 private:
  Graph graph_;
  CpuKernels kernels_;
  ThreadPlan plan_;
  std::optional<Executor> executor_;
  std::vector<Tensor> results_;
};

std::vector<float> Values(const ConstView& view) {
  return {view.as<float>(), view.as<float>() + view.elements()};
}
Tensor Floats(const Shape& shape, const std::vector<float>& values) { return Tensor::Floats(shape, values); }
Tensor Flag(bool value) { return Tensor::Of<bool>(DType::kBool, {}, std::span(&value, 1)); }
Tensor Number(int64_t value) { return Tensor::Of<int64_t>(DType::kI64, {}, std::span(&value, 1)); }

struct Case {
  bool reference;
  int threads;
};
class ControlFlow : public testing::TestWithParam<Case> {
 protected:
  Prepared Make(Graph graph) { return {std::move(graph), GetParam().reference, GetParam().threads}; }
};
INSTANTIATE_TEST_SUITE_P(Kernels, ControlFlow, testing::Values(Case{true, 1}, Case{false, 1}, Case{false, 3}),
                         [](const auto& info) {
                           return (info.param.reference ? "Reference" : "Fast") +
                                  std::to_string(info.param.threads);
                         });

// The If's result is an output, and its reader runs on the memory that it has.
TEST_P(ControlFlow, AnIfIsDecidedInEachRun) {
  Graph g;
  g.name = "if";
  const ValueId flag = Input(g, "flag", DType::kBool, {}), x = Input(g, "x", DType::kF32, {3});
  const ValueId y = g.AddValue("y"), z = g.AddValue("z");
  g.AddNode("If", "if", {flag, x}, {y}, ReluOrNeg());
  g.AddNode("Abs", "abs", {y}, {z});
  g.outputs = {y, z};
  Prepared net = Make(std::move(g));
  for (const bool taken : {true, false, false, true}) {
    const auto out = net.Run({Flag(taken), Floats({3}, {-1, 0, 2})});
    EXPECT_EQ(Values(out[0]), (taken ? std::vector<float>{0, 0, 2} : std::vector<float>{1, 0, -2}));
    EXPECT_EQ(Values(out[1]), (taken ? std::vector<float>{0, 0, 2} : std::vector<float>{1, 0, 2}));
  }
  EXPECT_EQ(net.Steps()[0].kernel, "its bodies");
}

// The branches differ in shape, so that readers learn it in the run.
TEST_P(ControlFlow, BranchesOfDifferentShapes) {
  Graph g;
  g.name = "if";
  const ValueId flag = Input(g, "flag", DType::kBool, {}), x = Input(g, "x", DType::kF32, {2, 3});
  const ValueId y = g.AddValue("y"), z = g.AddValue("z");
  Attributes a = ReluOrNeg();
  a.Set("else_branch", UnaryBody("Transpose"));
  g.AddNode("If", "if", {flag, x}, {y}, a);
  g.AddNode("Neg", "neg", {y}, {z});
  g.outputs = {z};
  Prepared net = Make(std::move(g));
  const Tensor data = Floats({2, 3}, {1, -2, 3, 4, 5, 6});
  const ConstView relu = net.Run({Flag(true), data})[0];
  EXPECT_EQ(relu.shape, (Shape{2, 3}));
  EXPECT_EQ(Values(relu), (std::vector<float>{-1, 0, -3, -4, -5, -6}));
  const ConstView transposed = net.Run({Flag(false), data})[0];
  EXPECT_EQ(transposed.shape, (Shape{3, 2}));
  EXPECT_EQ(Values(transposed), (std::vector<float>{-1, -4, 2, -5, -3, -6}));
}

TEST_P(ControlFlow, ALoopRunsAsOftenAsItsInputSays) {
  Graph g;
  g.name = "loop";
  const ValueId runs = Input(g, "runs", DType::kI64, {}), x = Input(g, "x", DType::kF32, {2}),
                y = Input(g, "y", DType::kF32, {2});
  const ValueId sum = g.AddValue("sum"), before = g.AddValue("before");
  g.AddNode("Loop", "loop", {runs, kNoValue, x, y}, {sum, before}, AddingLoop());
  g.outputs = {sum, before};
  Prepared net = Make(std::move(g));
  for (const int64_t n : {3, 0, 1, 5}) {
    const auto out = net.Run({Number(n), Floats({2}, {1, 2}), Floats({2}, {10, 20})});
    EXPECT_EQ(Values(out[0]), (std::vector<float>{1 + 10 * float(n), 2 + 20 * float(n)}));
    EXPECT_EQ(out[1].shape, (Shape{n, 2}));
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(Values(out[1])[size_t(2 * i + 1)], 2 + 20 * float(i));
  }
}

// A value that grows with each run, as the cache of a decoder does: more shapes than a body keeps.
// Weights that the Loop hands on, and a product of what no run changes: (state, w, x) -> (state + x w, w, x).
TEST_P(ControlFlow, WhatNoRunChangesIsComputedOnce) {
  Graph graph;
  BodyBuilder b;
  b.Input("run");
  const ValueId condition = b.Input("condition"), state = b.Input("state"), w = b.Input("w"),
                x = b.Input("x");
  b.Output(b.Op("Identity", {condition}));
  b.Output(b.Op("Add", {state, b.Op("MatMul", {x, w})}));
  b.Output(b.Op("Identity", {w}));
  b.Output(x);
  b.Output(x);  // a scan
  Attributes a;
  a.Set("body", b.Take());
  const ValueId runs = Input(graph, "runs", DType::kI64, {}),
                before = Input(graph, "before", DType::kF32, {1, 2}),
                of_x = Input(graph, "x", DType::kF32, {1, 2}),
                weights = graph.AddConstant("weights", Floats({2, 2}, {1, 2, 3, 4}));
  for (const char* name : {"after", "w_after", "x_after", "xs"})
    graph.outputs.push_back(graph.AddValue(name));
  graph.AddNode("Loop", "loop", {runs, kNoValue, before, weights, of_x}, graph.outputs, a);
  Prepared prepared = Make(std::move(graph));
  for (const int64_t n : {0, 1, 5}) {
    const auto got = prepared.Run({Number(n), Floats({1, 2}, {7, 8}), Floats({1, 2}, {1, 10})});
    const float times = float(n);
    EXPECT_EQ(Values(got[0]), (std::vector<float>{7 + 31 * times, 8 + 42 * times})) << n;
    EXPECT_EQ(Values(got[1]), (std::vector<float>{1, 2, 3, 4})) << n;
    EXPECT_EQ(Values(got[2]), (std::vector<float>{1, 10})) << n;
    EXPECT_EQ(got[3].shape, (Shape{n, 1, 2}));
    for (int64_t i = 0; i < 2 * n; ++i) EXPECT_EQ(got[3].as<float>()[i], i % 2 == 0 ? 1 : 10);
  }
}

TEST_P(ControlFlow, AValueMayGrow) {
  BodyBuilder b;
  b.Input("run");
  const ValueId condition = b.Input("condition"), x = b.Input("x"), y = b.Input("y");
  Attributes axis;
  axis.Set("axis", int64_t(0));
  b.Output(b.Op("Identity", {condition}));
  b.Output(b.Op("Concat", {x, y}, axis));
  Attributes a;
  a.Set("body", b.Take());
  a.Set(kCaptures, int64_t(1));
  Graph g;
  g.name = "loop";
  const ValueId runs = Input(g, "runs", DType::kI64, {}), in = Input(g, "x", DType::kF32, {1, 2}),
                more = Input(g, "y", DType::kF32, {1, 2});
  g.outputs = {g.AddValue("grown")};
  g.AddNode("Loop", "loop", {runs, kNoValue, in, more}, {g.outputs[0]}, a);
  Prepared net = Make(std::move(g));
  for (const int64_t n : {80, 2}) {
    const ConstView grown = net.Run({Number(n), Floats({1, 2}, {1, 2}), Floats({1, 2}, {3, 4})})[0];
    ASSERT_EQ(grown.shape, (Shape{n + 1, 2}));
    EXPECT_EQ(Values(grown)[1], 2);
    EXPECT_EQ(Values(grown).back(), 4);
  }
}

TEST_P(ControlFlow, AScanGivesRunningSums) {
  Graph g;
  g.name = "scan";
  const ValueId s = Input(g, "s", DType::kF32, {2}), x = Input(g, "x", DType::kF32, {3, 2});
  g.outputs = {g.AddValue("last"), g.AddValue("sums")};
  g.AddNode("Scan", "scan", {s, x}, {g.outputs[0], g.outputs[1]}, RunningSums());
  Prepared net = Make(std::move(g));
  const auto out = net.Run({Floats({2}, {0, 1}), Floats({3, 2}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(Values(out[0]), (std::vector<float>{9, 13}));
  EXPECT_EQ(Values(out[1]), (std::vector<float>{1, 3, 4, 7, 9, 13}));
}

Graph EndlessLoop() {
  Graph g;
  g.name = "loop";
  const ValueId x = Input(g, "x", DType::kF32, {1}), y = Input(g, "y", DType::kF32, {1});
  g.outputs = {g.AddValue("sum")};
  g.AddNode("Loop", "loop", {kNoValue, kNoValue, x, y}, {g.outputs[0]}, AddingLoop());
  return g;
}

// Within a loop that never ends, a run ends when it is cancelled.
TEST_P(ControlFlow, ALoopCanBeCancelled) {
  Prepared net = Make(EndlessLoop());
  CancelToken cancel;
  std::jthread canceller([&] { cancel.Cancel(); });
  RunOptions options;
  options.cancel = &cancel;
  EXPECT_TELLS(net.Run({Floats({1}, {0}), Floats({1}, {1})}, options), "was cancelled before this step");
}

// The same loop ends at the run's deadline, however long that takes.
TEST_P(ControlFlow, ALoopEndsAtItsDeadline) {
  Prepared net = Make(EndlessLoop());
  RunOptions options;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  EXPECT_TELLS(net.Run({Floats({1}, {0}), Floats({1}, {1})}, options), "the run's deadline was");
}

TEST_P(ControlFlow, ABranchThatFailsNamesItsNode) {
  const Attributes a = SqueezeOrNeg();
  Graph g;
  g.name = "if";
  const ValueId flag = Input(g, "flag", DType::kBool, {}), in = Input(g, "x", DType::kF32, {2, 3});
  g.outputs = {g.AddValue("y")};
  g.AddNode("If", "if", {flag, in}, {g.outputs[0]}, a);
  Prepared net = Make(std::move(g));
  const Tensor data(DType::kF32, {2, 3});
  EXPECT_EQ(net.Run({Flag(false), data})[0].shape, (Shape{2, 3}));
  EXPECT_TELLS(net.Run({Flag(true), data}), "[Squeeze0]");
  EXPECT_EQ(net.Run({Flag(false), data})[0].shape, (Shape{2, 3}));
}

// A product of large weights. In 8 bits, with a scale for each group, the small ones beside 127 are 0.
TEST(ControlFlowPrecision, BodiesHaveThatOfTheirGraph) {
  constexpr int64_t kSize = 1024;
  const auto is_large = [](int64_t row) { return row % kGroup == 0; };
  Tensor weights(DType::kF32, {kSize, kSize});
  float exact = 0, rounded = 0;
  for (int64_t k = 0; k < kSize; ++k) {
    const float w = is_large(k) ? 127 : 0.25f;
    std::fill_n(weights.mutable_view().as<float>() + k * kSize, kSize, w);
    exact += w;
    rounded += is_large(k) ? w : 0;
  }
  BodyBuilder product;
  const ValueId in = product.Input("x");
  product.Output(product.Op("MatMul", {in, product.Constant("w", weights)}));
  Attributes a = ReluOrNeg();
  a.Set("then_branch", product.Take());
  for (const Precision precision : {Precision::kF32, Precision::kW8}) {
    Graph g;
    g.name = "if";
    const ValueId flag = Input(g, "flag", DType::kBool, {}), x = Input(g, "x", DType::kF32, {1, kSize});
    const ValueId y = g.AddValue("y");
    g.AddNode("If", "if", {flag, x}, {y}, a);
    g.outputs = {y};
    Prepared net(std::move(g), false, 1, precision);
    const auto out = net.Run({Flag(true), Floats({1, kSize}, std::vector<float>(kSize, 1))});
    EXPECT_FLOAT_EQ(out[0].as<float>()[5], precision == Precision::kF32 ? exact : rounded) << Name(precision);
  }
}

}  // namespace
}  // namespace mete
