#include "partition/channels_last.h"

#include <algorithm>

#include "graph/traits.h"

namespace mete {
namespace {

bool IsImage(const Value& value) {
  return value.type == DType::kF32 && value.shape.known() && value.shape.rank() == 4 && !value.is_constant();
}

void AddTranspose(Graph& graph, std::vector<Node>& nodes, const std::string& name, ValueId from, ValueId to,
                  const Ints& perm) {
  Attributes attributes;
  attributes.Set("perm", perm);
  attributes.Set("mete_layout", int64_t{1});
  graph.AddNode("Transpose", name, {from}, {to}, std::move(attributes));
  nodes.push_back(std::move(graph.nodes.back()));
  graph.nodes.pop_back();
}

}  // namespace

std::vector<bool> ChannelsLast(const Graph& graph) {
  std::vector<bool> last(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    const auto is_last = [&](ValueId id) { return id != kNoValue && last[size_t(id)]; };
    const bool prefers = TraitsOf(node.op).orders == Orders::kChannelsLast;
    const bool follows =
        FollowsOrder(node.op) && std::any_of(node.inputs.begin(), node.inputs.end(), is_last);
    if (!prefers && !follows) continue;
    for (const ValueId id : node.outputs)
      if (id != kNoValue) last[size_t(id)] = IsImage(graph.value(id));
  }
  for (const ValueId id : graph.outputs) last[size_t(id)] = false;
  return last;
}

Shape ToChannelsLast(const Shape& s) { return {s[0], s[2], s[3], s[1]}; }

Part ToChannelsLast(const Part& part) {
  constexpr int kAxis[4] = {0, 3, 1, 2};
  return part.all() ? part : Part::Of(kAxis[part.axis], part.rows);
}

void PutChannelsLast(Graph& share, const std::vector<bool>& inputs, const std::vector<bool>& outputs) {
  std::vector<Node> before, after;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    const ValueId plain = share.inputs[i];
    const Value value = share.value(plain);
    share.inputs[i] = share.AddValue(value.name + ".last", value.type, ToChannelsLast(value.shape));
    AddTranspose(share, before, "from_last." + value.name, share.inputs[i], plain, {0, 3, 1, 2});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    const ValueId plain = share.outputs[i];
    const Value value = share.value(plain);
    share.outputs[i] = share.AddValue(value.name + ".last", value.type, ToChannelsLast(value.shape));
    AddTranspose(share, after, "to_last." + value.name, plain, share.outputs[i], {0, 2, 3, 1});
  }
  share.nodes.insert(share.nodes.begin(), std::make_move_iterator(before.begin()),
                     std::make_move_iterator(before.end()));
  share.nodes.insert(share.nodes.end(), std::make_move_iterator(after.begin()),
                     std::make_move_iterator(after.end()));
}

}  // namespace mete
