#include "network/caller/remote_processor.h"

#include <cstring>

#include "base/error.h"
#include "network/caller/deployed_plan.h"
#include "partition/share.h"

namespace mete {
namespace {

constexpr std::chrono::minutes kPatience{1};  // guess: of one step, on the slowest board

// The node alone, as a graph.
Graph GraphOf(const Graph& graph, const Node& node) {
  std::vector<ValuePart> wanted;
  for (const ValueId id : node.outputs)
    if (id != kNoValue) wanted.push_back({id, Part::All()});
  const std::vector<int> nodes{int(&node - graph.nodes.data())};
  return MakeShareGraph(graph, nodes, wanted).graph;
}

// All of it on the second of two devices.
DevicesPlan PlanThere(const Graph& graph, const std::string& name) {
  DevicesPlan plan{graph.name, "remote", {"own", name}, {graph.nodes[0].name}, {}};
  PlannedGroup group{0, 1, WholeOn(1), {}, 0};
  DeviceShare share{1, {}, {}};
  for (const ValueId id : graph.outputs) share.outputs.push_back({id, Part::All()});
  group.shares.push_back(std::move(share));
  plan.groups.push_back(std::move(group));
  return plan;
}

Tensor CopyOf(const ConstView& view) {
  Tensor copy(view.type, view.shape);
  std::memcpy(copy.mutable_view().data, view.data, view.bytes());
  return copy;
}

class RemoteStep : public Prepared {
 public:
  RemoteStep(Graph graph, const Node& node, RemoteDevice& remote)
      : graph_(std::move(graph)),
        deployed_(
            graph_, PlanThere(graph_, remote.name()), {nullptr, &remote}, {}, digests_, {},
            [](const std::string&, int64_t, int64_t) {}, &notes_),
        kernel_("remote " + remote.name()) {
    // A share's inputs are in the order of their ids, each once, and without constants.
    for (const ValueId id : graph_.inputs)
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (node.inputs[i] != kNoValue && graph_.nodes[0].inputs[i] == id) {
          inputs_.push_back(i);
          break;
        }
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kNoValue) outputs_.push_back(i);
  }

  void Execute(std::span<const ConstView> inputs, std::span<View> outputs) override {
    std::vector<Tensor> in;
    // where a run fails, its inputs may still be on their way
    for (const size_t i : inputs_) in.push_back(CopyOf(inputs[i]));
    const std::vector<Tensor> out = deployed_.Run(in, kPatience);
    for (size_t i = 0; i < out.size(); ++i)
      std::memcpy(outputs[outputs_[i]].data, out[i].data(), out[i].bytes());
  }
  std::string kernel() const override { return kernel_; }

 private:
  const Graph graph_;
  DigestMemo digests_;
  std::vector<std::string> notes_;
  DeployedPlan deployed_;
  const std::string kernel_;
  std::vector<size_t> inputs_, outputs_;  // of the node: which of its are the graph's
};

}  // namespace

std::string RemoteProcessor::WhyNot(const Graph& graph, const Node& node) const {
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ValueId id : *list) {
      if (id == kNoValue) continue;
      const Value& value = graph.value(id);
      if (!value.shape.known()) return "the shape of " + value.name + " depends on data";
      if (value.layout != Layout::kPlain) return value.name + " is not in plain order";
    }
  return "";
}

std::unique_ptr<Prepared> RemoteProcessor::Prepare(const Graph& graph, const Node& node, const Step&) {
  if (const std::string why = WhyNot(graph, node); !why.empty())
    Fail(Code::kUnimplemented, node.name, "cannot be computed elsewhere: {}", why);
  return std::make_unique<RemoteStep>(GraphOf(graph, node), node, remote_);
}

}  // namespace mete
