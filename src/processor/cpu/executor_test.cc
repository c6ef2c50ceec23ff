#include "processor/cpu/executor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "base/tensor_source.h"
#include "graph/operators.h"
#include "processor/memory/slices_testing.h"

namespace mete {
namespace {

// Of several threads, the steps use all of them, one, two, all, ...
int StepThreads(const KernelOptions& options, size_t step) {
  return step % 3 == 0 ? options.threads : std::min(int(step % 3), options.threads);
}

std::vector<Tensor> Outputs(const Graph& graph, const KernelOptions& options, const RunOptions& run = {},
                            Policy::Times* times = nullptr) {
  Verify(graph);
  CpuKernels cpu(options);
  ThreadPlan plan;
  plan.steps.resize(graph.nodes.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) plan.steps[i].threads = StepThreads(options, i);
  Executor executor(graph, plan, cpu);
  Tensor input(DType::kF32, graph.value(graph.inputs[0]).shape);
  for (int64_t i = 0; i < input.elements(); ++i)
    input.mutable_view().as<float>()[i] = float(i % 23 - 11) * 0.1f;
  std::vector<Tensor> results;
  std::vector<View> out;
  for (ValueId id : graph.outputs) results.emplace_back(graph.value(id).type, graph.value(id).shape);
  for (Tensor& t : results) out.push_back(t.mutable_view());
  for (int i = 0; i < 2; ++i) executor.Run(std::vector{input.view()}, out, run);
  if (times) *times = cpu.pool().TakeTimes();
  return results;
}

// With the concatenation in the arena, where the Relu overwrites it, and in the caller's memory.
TEST(Executor, SlicesOfAConcatenationGiveWhatTheirConcatGives) {
  for (const bool reference : {false, true})
    for (const bool is_output : {false, true})
      for (const int threads : {1, 2, 3}) {
        SCOPED_TRACE(testing::Message()
                     << "reference " << reference << ", output " << is_output << ", threads " << threads);
        Graph in_place = SlicesNet(), joined = SlicesNet(Slices::kJoined);
        if (!is_output) {
          in_place.outputs.pop_back();
          joined.outputs.pop_back();
        }
        const auto got = Outputs(in_place, {threads, {}, reference}),
                   want = Outputs(joined, {threads, {}, reference});
        for (size_t o = 0; o < want.size(); ++o)
          for (int64_t i = 0; i < want[o].elements(); ++i)
            ASSERT_EQ(got[o].as<float>()[i], want[o].as<float>()[i]) << "output " << o << " element " << i;
      }
}

// A tensor whose bytes lie at an odd address, and which counts as large whatever its size.
Tensor Unaligned(const Tensor& t) {
  const auto bytes = std::make_shared<std::vector<std::byte>>(t.bytes() + 1);
  std::memcpy(bytes->data() + 1, t.data(), t.bytes());
  return UnalignedTensor(t.type(), t.shape(), std::span<const std::byte>(*bytes).subspan(1), bytes);
}

// x -> Conv of two groups -> Conv 3x3 -> Reshape -> MatMul -> Add -> Gemm with a transposed B -> y; and rows
// of a table. All weights have sources, or none.
Graph NetOfSources(bool sources) {
  Graph g;
  g.name = "sources";
  const auto weights = [&](const char* name, const Shape& shape) {
    Tensor t(DType::kF32, shape);
    for (int64_t i = 0; i < t.elements(); ++i)
      t.mutable_view().as<float>()[i] = float((i * 7919) % 101 - 50) * 0.01f;
    return g.AddConstant(name, sources ? Unaligned(t) : t);
  };
  const auto value = [&](const char* name, const Shape& shape) {
    return g.AddValue(name, DType::kF32, shape);
  };
  const auto node = [&](const char* op, const char* name, std::vector<ValueId> in, ValueId out) -> Node& {
    return g.AddNode(op, name, std::move(in), {out});
  };
  const ValueId x = value("x", {1, 9, 9, 32}), a = value("a", {1, 9, 9, 70}), b = value("b", {1, 9, 9, 40}),
                flat = value("flat", {81, 40}), c = value("c", {81, 100}), d = value("d", {81, 100}),
                y = value("y", {81, 130}), rows = value("rows", {3, 25});
  Node& grouped = node("Conv", "grouped", {x, weights("w1", {70, 16, 1, 1})}, a);
  grouped.attributes.Set("group", int64_t{2});
  grouped.attributes.Set("layout", std::string("NHWC"));
  Node& wide = node("Conv", "wide", {a, weights("w2", {40, 70, 3, 3})}, b);
  wide.attributes.Set("pads", Ints{1, 1, 1, 1});
  wide.attributes.Set("layout", std::string("NHWC"));
  node("Reshape", "reshape", {b, g.AddConstant("to", Tensor::Ints(std::vector<int64_t>{81, 40}))}, flat);
  node("MatMul", "product", {flat, weights("w3", {40, 100})}, c);
  node("Add", "add", {c, weights("w4", {81, 100})}, d);
  node("Gemm", "gemm", {d, weights("w5", {130, 100})}, y).attributes.Set("transB", int64_t{1});
  node("Gather", "gather",
       {weights("table", {50, 25}), g.AddConstant("at", Tensor::Ints(std::vector<int64_t>{7, 0, 49}))}, rows);
  g.inputs = {x};
  g.outputs = {y, rows};
  return g;
}

TEST(Executor, WeightsWithASourceGiveTheSameBits) {
  const Graph there = NetOfSources(false), made = NetOfSources(true);
  for (const bool reference : {false, true})
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(testing::Message() << "reference " << reference << ", threads " << threads);
      const auto want = Outputs(there, {threads, {}, reference}),
                 got = Outputs(made, {threads, {}, reference});
      for (size_t o = 0; o < want.size(); ++o)
        ASSERT_EQ(std::memcmp(got[o].data(), want[o].data(), want[o].bytes()), 0) << "output " << o;
    }
}

// What a policy learns of is what several threads compute.
TEST(Executor, ARunOfTheCallerAloneGivesTheSameWithoutTheOthers) {
  const Graph graph = SlicesNet();
  KernelOptions options{3};
  options.policy = "adaptive";
  Policy::Times together, alone;
  const auto want = Outputs(graph, options, {.alone = RunOptions::Alone::kNever}, &together);
  const auto got = Outputs(graph, options, {.alone = RunOptions::Alone::kAlways}, &alone);
  EXPECT_GT(together.together_ns, 0);
  EXPECT_EQ(alone.together_ns, 0);
  for (size_t o = 0; o < want.size(); ++o)
    for (int64_t i = 0; i < want[o].elements(); ++i)
      ASSERT_EQ(got[o].as<float>()[i], want[o].as<float>()[i]) << o << " " << i;
}

constexpr int64_t kElements = 6 * 7;

// Neither zero, by which integers cannot be divided, nor alike in neighbouring elements or inputs.
void Fill(const View& view, int input) {
  for (int64_t i = 0; i < view.elements(); ++i) {
    const int64_t value = 1 + (i * 5 + input * 3) % 4;
    if (view.type == DType::kF32) view.as<float>()[i] = float(value) * 0.2f - 0.1f;
    else if (view.type == DType::kI32) view.as<int32_t>()[i] = int32_t(value);
    else view.as<uint8_t>()[i] = uint8_t(view.type == DType::kU8 ? value : value & 1);
  }
}

Attributes AttributesOf(const std::string& op, DType type, int inputs) {
  Attributes a;
  if (op == "Cast" || op == "BitCast")
    a.Set("to", std::string(Name(type == DType::kF32   ? DType::kI32
                                 : type == DType::kI32 ? DType::kF32
                                                       : type)));
  if (op == "BitShift") a.Set("direction", std::string("LEFT"));
  if (op == "mete.Elementwise") {
    a.Set("ops", Strings{inputs == 1 ? "Relu" : "Sub"});
    a.Set("args", inputs == 1 ? Ints{0, -1, -1} : Ints{0, inputs - 1, -1});
    a.Set("params", Floats{0, 0});
  }
  return a;
}

// Returns the inputs of an operator between tensors of bytes (graph/fused.h, 9): the operands, and a table,
// or a scale and a zero point for each operand and the output. Other operators have the operands as inputs.
std::vector<ValueId> InputsOf(Graph& g, const std::string& op, std::vector<ValueId> operands) {
  const auto constant = [&](const char* name, DType type, const Shape& shape) {
    Tensor t(type, shape);
    Fill(t.mutable_view(), 1);
    return g.AddConstant(name, std::move(t));
  };
  if (op == "mete.ByteTable") operands.push_back(constant("table", DType::kU8, Shape{256}));
  if (!op.starts_with("mete.QLinear")) return operands;
  const ValueId scale = constant("scale", DType::kF32, Shape{}), zero = constant("zero", DType::kU8, Shape{});
  std::vector<ValueId> inputs;
  for (const ValueId id : operands) inputs.insert(inputs.end(), {id, scale, zero});
  inputs.insert(inputs.end(), {scale, zero});
  return inputs;
}

enum class Copies { kFree, kOutputs };

// Copies of the inputs, then the operator. Nothing where it does not take that many inputs of that type.
// With Copies::kOutputs the caller gets the copies too, so that nothing may write over them.
std::optional<Graph> OneOperator(const OpSchema& op, DType type, int inputs, Copies copies_are) {
  Graph g;
  g.name = "one";
  std::vector<ValueId> copies;
  for (int i = 0; i < inputs; ++i) {
    const bool is_condition = std::string_view(op.name) == "Where" && i == 0;
    const DType t = is_condition ? DType::kBool : type;
    const bool is_number = std::string_view(op.name) == "Clip" && i > 0;
    const Shape shape = is_number ? Shape{} : Shape{6, kElements / 6};
    const std::string name = std::to_string(i);
    g.inputs.push_back(g.AddValue("in" + name, t, shape));
    copies.push_back(g.AddValue("copy" + name, t, shape));
    Attributes to;
    to.Set("to", std::string(Name(t)));
    g.AddNode("Cast", "cast" + name, {g.inputs.back()}, {copies.back()}, to);
  }
  const ValueId out = g.AddValue("out");
  g.AddNode(op.name, "op", InputsOf(g, op.name, copies), {out}, AttributesOf(op.name, type, inputs));
  g.outputs = {g.AddValue("last")};
  g.AddNode("Flatten", "last", {out}, {g.outputs[0]});  // so that `out` lies in the arena
  if (copies_are == Copies::kOutputs) g.outputs.insert(g.outputs.end(), copies.begin(), copies.end());
  try {
    InferShapes(g);
    Verify(g);
  } catch (const Error&) {
    return std::nullopt;
  }
  return g;
}

std::vector<std::byte> FirstOutput(const Graph& graph) {
  CpuKernels cpu(KernelOptions{1});
  ThreadPlan plan;
  plan.steps.resize(graph.nodes.size());
  Executor executor(graph, plan, cpu);
  std::vector<Tensor> inputs, outputs;
  std::vector<ConstView> in;
  std::vector<View> out;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    inputs.emplace_back(graph.value(graph.inputs[i]).type, graph.value(graph.inputs[i]).shape);
    Fill(inputs.back().mutable_view(), int(i));
  }
  for (const Tensor& t : inputs) in.push_back(t.view());
  for (ValueId id : graph.outputs) outputs.emplace_back(graph.value(id).type, graph.value(id).shape);
  for (Tensor& t : outputs) out.push_back(t.mutable_view());
  executor.Run(in, out, {});
  const auto* bytes = static_cast<const std::byte*>(outputs[0].data());
  return {bytes, bytes + outputs[0].bytes()};
}

bool Overwrites(const Graph& graph) {
  const MemoryPlan plan = PlanMemory(graph);
  const Node& op = graph.nodes[graph.inputs.size()];
  const auto shares = [&](ValueId in) { return plan.alias_of[size_t(op.outputs[0])] == in; };
  return std::any_of(op.inputs.begin(), op.inputs.end(), shares);
}

// Whatever the schema says may write over an input gives the same bits there as in memory of its own.
TEST(Executor, ElementwiseOperatorsGiveTheSameInPlace) {
  int in_place = 0;
  for (const OpSchema* op : AllOperators()) {
    if (!IsElementwiseOperator(op->name) || IsViewOperator(op->name)) continue;
    bool tried = false;
    for (const DType type : {DType::kF32, DType::kI32, DType::kU8, DType::kBool})
      for (int inputs = 1; inputs <= 3; ++inputs) {
        SCOPED_TRACE(testing::Message() << op->name << " of " << inputs << " " << Name(type));
        const auto over = OneOperator(*op, type, inputs, Copies::kFree),
                   apart = OneOperator(*op, type, inputs, Copies::kOutputs);
        if (!over) continue;
        tried = true;
        in_place += Overwrites(*over);
        EXPECT_FALSE(Overwrites(*apart));
        EXPECT_EQ(FirstOutput(*over), FirstOutput(*apart));
      }
    EXPECT_TRUE(tried) << op->name;
  }
  EXPECT_GT(in_place, 100);
}

}  // namespace
}  // namespace mete
