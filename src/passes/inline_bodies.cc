#include "passes/inline_bodies.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/bodies.h"
#include "graph/node_names.h"

namespace mete {
namespace {

// Nodes that the runs of a Loop may become. Guess: a loop over the layers of a network, or over a window; a
// larger one is prepared once, as a body.
constexpr int64_t kMostNodes = 1000;

// Makes the captures that are constants in `graph` constants of the node's bodies.
bool PushConstants(const Graph& graph, Node& node) {
  const size_t captures = CapturesOf(node.attributes), first = node.inputs.size() - captures;
  std::vector<uint8_t> pushed(captures);
  for (size_t i = 0; i < captures; ++i) pushed[i] = IsConstant(graph, node.inputs[first + i]);
  const auto count = std::count(pushed.begin(), pushed.end(), uint8_t(1));
  if (count == 0) return false;
  for (const std::string_view name : BodyNames(node.op)) {
    auto body = std::make_shared<Graph>(*node.attributes.GraphOf(name));
    const size_t own = body->inputs.size() - captures;
    std::vector<ValueId> kept(body->inputs.begin(), body->inputs.begin() + std::ptrdiff_t(own));
    for (size_t i = 0; i < captures; ++i) {
      const ValueId id = body->inputs[own + i];
      if (!pushed[i]) kept.push_back(id);
      else {
        const Value& outer = graph.value(node.inputs[first + i]);
        Value& inner = body->value(id);
        inner.constant = outer.constant;
        inner.type = outer.type;
        inner.shape = outer.shape;
      }
    }
    body->inputs = std::move(kept);
    node.attributes.Set(name, GraphPtr(std::move(body)));
  }
  std::vector<ValueId> inputs(node.inputs.begin(), node.inputs.begin() + std::ptrdiff_t(first));
  for (size_t i = 0; i < captures; ++i)
    if (!pushed[i]) inputs.push_back(node.inputs[first + i]);
  node.inputs = std::move(inputs);
  node.attributes.Set(kCaptures, int64_t(captures) - int64_t(count));
  return true;
}

// The element of a constant with one; nothing for other values.
template <class T>
std::optional<T> ElementOf(const Graph& graph, ValueId id, DType type) {
  if (!IsConstant(graph, id) || graph.value(id).type != type || graph.value(id).constant.elements() != 1)
    return std::nullopt;
  return *graph.value(id).constant.as<T>();
}

std::optional<bool> FlagOf(const Graph& graph, ValueId id) {
  const auto flag = ElementOf<uint8_t>(graph, id, DType::kBool);
  return flag ? std::optional(*flag != 0) : std::nullopt;
}

std::span<const ValueId> OutputsOf(const Node& node, const Graph& body) {
  return std::span(node.outputs).first(std::min(node.outputs.size(), body.outputs.size()));
}

bool InlineIf(Graph& graph, const Node& node, NodeNames& names) {
  const std::optional<bool> taken = FlagOf(graph, node.inputs[0]);
  if (!taken) return false;
  const GraphPtr body = node.attributes.GraphOf(BodyNames("If")[*taken ? 0 : 1]);
  if (node.outputs.size() > body->outputs.size() || node.inputs.size() - 1 != body->inputs.size())
    return false;  // the inference reports it
  AppendBody(graph, *body, std::span(node.inputs).subspan(1), OutputsOf(node, *body), node.name, names);
  return true;
}

// Whether the body hands on the condition that it gets, or one that is always true.
bool GoesOn(const Graph& body) {
  if (FlagOf(body, body.outputs[0]) == true) return true;
  const ValueId id = OriginsOf(body)[size_t(body.outputs[0])];
  return id == body.inputs[1] || FlagOf(body, id) == true;
}

// A Loop whose runs are known: how many, and what they carry.
struct Unrolled {
  GraphPtr body;
  int64_t runs = 0;
  size_t carried = 0, scans = 0;
};

std::optional<Unrolled> RunsOf(const Graph& graph, const Node& node) {
  const auto most = ElementOf<int64_t>(graph, node.input(0), DType::kI64);
  const bool begins = node.input(1) == kNoValue || FlagOf(graph, node.input(1)) == true;
  const GraphPtr body = node.attributes.GraphOf("body");
  const size_t captures = CapturesOf(node.attributes);
  if (!most || !begins || !body || body->inputs.size() != node.inputs.size() ||
      node.inputs.size() < 2 + captures)
    return std::nullopt;
  const size_t carried = node.inputs.size() - 2 - captures;
  if (body->outputs.size() < 1 + carried || node.outputs.size() > body->outputs.size() - 1)
    return std::nullopt;
  const size_t scans = body->outputs.size() - 1 - carried;
  const int64_t nodes = int64_t(std::max<size_t>(body->nodes.size(), 1));
  if (*most > kMostNodes / nodes || (*most < 1 && scans > 0) || !GoesOn(*body)) return std::nullopt;
  return Unrolled{body, std::max<int64_t>(*most, 0), carried, scans};
}

class LoopWriter {
 public:
  LoopWriter(Graph& graph, const Node& node, const Unrolled& loop, NodeNames& names)
      : graph_(graph), node_(node), loop_(loop), names_(names), elements_(loop.scans) {}

  void Write() {
    const auto first = node_.inputs.begin() + 2;
    carried_.assign(first, first + std::ptrdiff_t(loop_.carried));
    for (int64_t run = 0; run < loop_.runs; ++run) WriteRun(run);
    for (size_t i = 0; i < loop_.carried; ++i)
      if (node_.output(i) != kNoValue)
        Add("Identity", fmt::format("carried{}", i), {carried_[i]}, node_.output(i));
    for (size_t i = 0; i < loop_.scans; ++i)
      if (const ValueId out = node_.output(loop_.carried + i); out != kNoValue)
        Add("Concat", fmt::format("scan{}", i), elements_[i], out, Axis0());
  }

 private:
  static Attributes Axis0() {
    Attributes attributes;
    attributes.Set("axis", int64_t(0));
    return attributes;
  }

  void Add(const char* op, const std::string& suffix, std::vector<ValueId> in, ValueId out,
           Attributes attributes = {}) {
    graph_.AddNode(op, names_.Unique(node_.name + "/" + suffix), std::move(in), {out}, std::move(attributes));
  }

  Tensor ScalarLike(size_t input, Tensor scalar) const {
    const Shape& declared = loop_.body->value(loop_.body->inputs[input]).shape;
    return Tensor(scalar.type(), declared.known() ? declared : Shape{}, scalar.data(), scalar.owner());
  }

  void WriteRun(int64_t run) {
    const std::string prefix = fmt::format("{}/run{}", node_.name, run);
    const bool yes = true;
    std::vector<ValueId> inputs{
        graph_.AddConstant(prefix + "/number",
                           ScalarLike(0, Tensor::Of<int64_t>(DType::kI64, {}, std::span(&run, 1)))),
        graph_.AddConstant(prefix + "/condition",
                           ScalarLike(1, Tensor::Of<bool>(DType::kBool, {}, std::span(&yes, 1))))};
    inputs.insert(inputs.end(), carried_.begin(), carried_.end());
    inputs.insert(inputs.end(), node_.inputs.begin() + 2 + std::ptrdiff_t(loop_.carried), node_.inputs.end());
    std::vector<ValueId> outputs{kNoValue};
    for (size_t i = 1; i < loop_.body->outputs.size(); ++i)
      outputs.push_back(graph_.AddValue(fmt::format("{}/output{}", prefix, i)));
    AppendBody(graph_, *loop_.body, inputs, outputs, prefix, names_);
    std::copy_n(outputs.begin() + 1, loop_.carried, carried_.begin());
    for (size_t i = 0; i < loop_.scans; ++i) {
      const ValueId element = graph_.AddValue(fmt::format("{}/element{}", prefix, i));
      const ValueId axes =
          graph_.AddConstant(fmt::format("{}/axes{}", prefix, i), Tensor::Ints(std::array<int64_t, 1>{0}));
      Add("Unsqueeze", fmt::format("run{}/element{}", run, i), {outputs[1 + loop_.carried + i], axes},
          element);
      elements_[i].push_back(element);
    }
  }

  Graph& graph_;
  const Node node_;  // a copy: the graph's nodes move
  const Unrolled& loop_;
  NodeNames& names_;
  std::vector<ValueId> carried_;
  std::vector<std::vector<ValueId>> elements_;  // by scan output
};

bool UnrollLoop(Graph& graph, const Node& node, NodeNames& names) {
  const std::optional<Unrolled> loop = RunsOf(graph, node);
  if (!loop) return false;
  LoopWriter(graph, node, *loop, names).Write();
  return true;
}

}  // namespace

bool InlineBodies(Graph& graph) {
  const auto has_body = [](const Node& node) { return IsControlFlow(node.op); };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), has_body)) return false;
  NodeNames names(graph);
  const std::vector<Node> nodes = std::exchange(graph.nodes, {});
  bool changed = false;
  for (Node node : nodes) {
    const bool control = has_body(node);
    if (control) changed |= PushConstants(graph, node);
    const bool written = (node.op == "If" && InlineIf(graph, node, names)) ||
                         (node.op == "Loop" && UnrollLoop(graph, node, names));
    changed |= written;
    if (!written) graph.nodes.push_back(std::move(node));
  }
  return changed;
}

}  // namespace mete
