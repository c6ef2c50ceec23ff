#include "graph/graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace mete {

ValueId Graph::AddValue(std::string name, DType type, const Shape& shape) {
  values.push_back({std::move(name), type, shape, Layout::kPlain, {}});
  return ValueId(values.size() - 1);
}

ValueId Graph::AddConstant(std::string name, Tensor tensor) {
  const ValueId id = AddValue(std::move(name), tensor.type(), tensor.shape());
  value(id).constant = std::move(tensor);
  return id;
}

Node& Graph::AddNode(std::string op, std::string node_name, std::vector<ValueId> in, std::vector<ValueId> out,
                     Attributes attributes) {
  nodes.push_back(
      {std::move(node_name), std::move(op), std::move(in), std::move(out), std::move(attributes)});
  return nodes.back();
}

bool HasBytes(const Graph& graph) {
  return graph.share_of_bytes || std::any_of(graph.values.begin(), graph.values.end(), [](const Value& v) {
           return !v.is_constant() && (v.type == DType::kU8 || v.type == DType::kI8);
         });
}

int64_t ConstantBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const Value& value : graph.values)
    if (value.is_constant()) bytes += int64_t(value.constant.bytes());
  return bytes;
}

std::optional<Ints> IntsOf(const Graph& graph, ValueId id) {
  if (!IsConstant(graph, id) || graph.value(id).type != DType::kI64) return std::nullopt;
  const Tensor& t = graph.value(id).constant;
  return Ints(t.as<int64_t>(), t.as<int64_t>() + t.elements());
}

Uses::Uses(const Graph& graph)
    : producer(graph.values.size(), -1), readers(graph.values.size()), is_output(graph.values.size()) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId id : graph.nodes[n].inputs)
      if (id != kNoValue) readers[size_t(id)].push_back(int(n));
    for (ValueId id : graph.nodes[n].outputs)
      if (id != kNoValue) producer[size_t(id)] = int(n);
  }
  for (ValueId id : graph.outputs) is_output[size_t(id)] = true;
}

void SortTopologically(Graph& graph) {
  const Uses uses(graph);
  const size_t n = graph.nodes.size();
  std::vector<int> waiting(n);  // inputs that have not been produced yet
  std::set<int> ready;          // the smallest index first keeps the order stable
  for (size_t i = 0; i < n; ++i) {
    for (ValueId id : graph.nodes[i].inputs) waiting[i] += id != kNoValue && uses.producer[size_t(id)] >= 0;
    if (waiting[i] == 0) ready.insert(int(i));
  }
  std::vector<Node> sorted;
  sorted.reserve(n);
  while (!ready.empty()) {
    const int i = *ready.begin();
    ready.erase(ready.begin());
    for (ValueId id : graph.nodes[size_t(i)].outputs) {
      if (id == kNoValue) continue;
      for (int reader : uses.readers[size_t(id)])
        if (--waiting[size_t(reader)] == 0) ready.insert(reader);
    }
    sorted.push_back(graph.nodes[size_t(i)]);
  }
  if (sorted.size() != n) {
    std::string stuck;
    int shown = 0;
    for (size_t i = 0; i < n; ++i)
      if (waiting[i] > 0 && shown++ < 8) stuck += (stuck.empty() ? "" : ", ") + graph.nodes[i].name;
    Invalid(graph.name, "the nodes form a cycle; {} of {} can never run: {}", n - sorted.size(), n, stuck);
  }
  graph.nodes = std::move(sorted);
}

void RemoveUnused(Graph& graph) {
  std::vector<bool> live(graph.values.size());
  for (ValueId id : graph.outputs) live[size_t(id)] = true;
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool used = std::any_of(node->outputs.begin(), node->outputs.end(),
                                  [&](ValueId id) { return id != kNoValue && live[size_t(id)]; });
    if (!used) continue;
    for (ValueId id : node->inputs)
      if (id != kNoValue) live[size_t(id)] = true;
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);

  for (ValueId id : graph.inputs) live[size_t(id)] = true;
  for (Node& node : graph.nodes)
    for (ValueId& id : node.outputs)
      if (id != kNoValue && !live[size_t(id)]) id = kNoValue;  // an output without a reader is omitted
  std::vector<ValueId> renamed(graph.values.size(), kNoValue);
  std::vector<Value> values;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (!live[i]) continue;
    renamed[i] = ValueId(values.size());
    values.push_back(std::move(graph.values[i]));
  }
  graph.values = std::move(values);
  auto rename = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids)
      if (id != kNoValue) id = renamed[size_t(id)];
  };
  for (Node& node : graph.nodes) {
    rename(node.inputs);
    rename(node.outputs);
  }
  rename(graph.inputs);
  rename(graph.outputs);
}

std::string Describe(const Value& value) {
  return fmt::format("{} {}", Name(value.type), ToString(value.shape));
}

}  // namespace mete
