#include "partition/share.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/error.h"
#include "graph/operators.h"
#include "partition/constant_part.h"
#include "partition/divide.h"

namespace mete {
namespace {

// Returns the division of a node for a part of its outputs, and sets `part` to the part that the node
// computes: more rows if it computes rows in blocks, and All() if the node cannot be divided as requested.
Division DivisionOf(const Graph& graph, const Node& node, Part& part) {
  if (!part.all()) {
    if (auto d = Divide(graph, node, part)) {
      if (d->rows) part.rows = *d->rows;
      return *std::move(d);
    }
  }
  part = Part::All();
  return {std::vector<Part>(node.inputs.size(), Part::All()), node.attributes, {}};
}

Part NormalizedOf(const Graph& graph, ValueId id, const Part& part) {
  const Shape& shape = graph.value(id).shape;
  return shape.known() ? Normalized(part, shape) : Part::All();
}

// The needed part of each value, collected from the last node to the first.
class Needs {
 public:
  explicit Needs(const Graph& graph) : graph_(graph), needs_(graph.values.size()) {}

  void Add(ValueId id, const Part& part) {
    std::optional<Part>& need = needs_[size_t(id)];
    need = NormalizedOf(graph_, id, need ? Hull(*need, part) : part);
  }
  const std::optional<Part>& Of(ValueId id) const { return needs_[size_t(id)]; }
  // Returns one part that covers the needs of all outputs of a node, or nothing if none is needed.
  std::optional<Part> OfOutputs(const Node& node) const {
    std::optional<Part> all;
    for (ValueId id : node.outputs)
      if (id != kNoValue && Of(id)) all = all ? Hull(*all, *Of(id)) : Of(id);
    return all;
  }

 private:
  const Graph& graph_;
  std::vector<std::optional<Part>> needs_;
};

// Writes a share's graph, node after node.
class ShareWriter {
 public:
  ShareWriter(const Graph& whole, ShareGraph& share) : whole_(whole), share_(share) {
    share.graph.name = whole.name;
  }

  void Input(const ValuePart& input) {
    const ValueId id = AddHeld(input.value, input.part);
    share_.graph.inputs.push_back(id);
  }

  void Write(const Node& node, Part part) {
    const Division d = DivisionOf(whole_, node, part);
    std::vector<ValueId> inputs, outputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto ints = d.ints.find(int(i));
      if (node.inputs[i] == kNoValue) inputs.push_back(kNoValue);
      else if (ints != d.ints.end())
        inputs.push_back(share_.graph.AddConstant(node.name + ".ints", Tensor::Ints(ints->second)));
      else inputs.push_back(Get(node.inputs[i], d.inputs[i]));
    }
    for (ValueId id : node.outputs)
      outputs.push_back(id == kNoValue ? kNoValue : AddHeld(id, NormalizedOf(whole_, id, part)));
    share_.graph.AddNode(node.op, node.name, std::move(inputs), std::move(outputs), d.attributes);
  }

  void Output(const ValuePart& output) { share_.graph.outputs.push_back(Get(output.value, output.part)); }

 private:
  using Key = std::tuple<ValueId, int, int64_t, int64_t>;
  static Key KeyOf(ValueId id, const Part& part) { return {id, part.axis, part.rows.begin, part.rows.end}; }

  ValueId AddHeld(ValueId id, const Part& part) {
    const Value& value = whole_.value(id);
    const ValueId here = share_.graph.AddValue(
        value.name, value.type, value.shape.known() ? ShapeOf(part, value.shape) : value.shape);
    held_[id] = part;
    here_[KeyOf(id, part)] = here;
    return here;
  }

  // Returns a part of a value, cut from the part that the share holds.
  ValueId Get(ValueId id, const Part& asked) {
    const Part part = NormalizedOf(whole_, id, asked);
    const auto known = here_.find(KeyOf(id, part));
    if (known != here_.end()) return known->second;
    const Value& value = whole_.value(id);
    if (value.is_constant()) {
      const ValueId here = share_.graph.AddConstant(value.name, CutConstant(value.constant, part));
      return here_[KeyOf(id, part)] = here;
    }
    return here_[KeyOf(id, part)] = AddSlice(id, part);
  }

  ValueId AddSlice(ValueId id, const Part& part) {
    const Value& value = whole_.value(id);
    const Part& held = held_.at(id);
    const int64_t first = held.all() ? 0 : held.rows.begin;
    const std::string name =
        fmt::format("{}.rows.{}.{}.{}", value.name, part.axis, part.rows.begin, part.rows.end);
    Graph& graph = share_.graph;
    const ValueId starts = graph.AddConstant(name + ".starts", Tensor::Ints(Ints{part.rows.begin - first}));
    const ValueId ends = graph.AddConstant(name + ".ends", Tensor::Ints(Ints{part.rows.end - first}));
    const ValueId axes = graph.AddConstant(name + ".axes", Tensor::Ints(Ints{part.axis}));
    const ValueId to = graph.AddValue(name, value.type, ShapeOf(part, value.shape));
    graph.AddNode("Slice", name, {here_.at(KeyOf(id, held)), starts, ends, axes}, {to});
    return to;
  }

  const Graph& whole_;
  ShareGraph& share_;
  std::map<ValueId, Part> held_;  // the part of a value that a node of the share or its caller provides
  std::map<Key, ValueId> here_;   // values of the share's graph by whole value and part
};

void CheckWanted(const Graph& graph, const ValuePart& w) {
  const Value& value = graph.value(w.value);
  if (w.part.all()) return;
  if (!value.shape.known())
    Invalid(value.name, "has a shape that depends on data; got a part of it, {}; expected all",
            ToString(w.part));
  const IndexRange& rows = w.part.rows;
  const bool has_axis = w.part.axis >= 0 && w.part.axis < value.shape.rank();
  if (!has_axis || rows.begin < 0 || rows.begin >= rows.end || rows.end > value.shape[w.part.axis])
    Invalid(value.name, "has no such part; got {}, expected rows of {}", ToString(w.part),
            ToString(value.shape));
}

}  // namespace

GroupBorder BorderOf(const Graph& graph, const Uses& uses, std::span<const int> nodes) {
  std::vector<bool> inside(graph.nodes.size(), false);
  for (int n : nodes) inside[size_t(n)] = true;
  std::set<ValueId> inputs, outputs;
  for (int n : nodes) {
    const Node& node = graph.nodes[size_t(n)];
    for (ValueId id : node.inputs) {
      if (id == kNoValue || graph.value(id).is_constant()) continue;
      const int made_by = uses.producer[size_t(id)];
      if (made_by < 0 || !inside[size_t(made_by)]) inputs.insert(id);
    }
    for (ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const auto& readers = uses.readers[size_t(id)];
      if (uses.is_output[size_t(id)] ||
          std::any_of(readers.begin(), readers.end(), [&](int r) { return !inside[size_t(r)]; }))
        outputs.insert(id);
    }
  }
  return {{inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()}};
}

ShareParts PartsOf(const Graph& graph, std::span<const int> nodes, std::span<const ValuePart> wanted) {
  ShareParts parts;
  Needs needs(graph);
  for (const ValuePart& w : wanted) {
    CheckWanted(graph, w);
    parts.outputs.push_back({w.value, NormalizedOf(graph, w.value, w.part)});
    needs.Add(w.value, w.part);
  }
  std::set<ValueId> made;
  std::vector<ValueId> read;
  for (size_t k = nodes.size(); k-- > 0;) {
    const Node& node = graph.nodes[size_t(nodes[k])];
    std::optional<Part> part = needs.OfOutputs(node);
    if (!part) continue;
    const Division d = DivisionOf(graph, node, *part);
    parts.nodes.push_back(nodes[k]);
    parts.computed.push_back(*part);
    for (ValueId id : node.outputs) made.insert(id);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == kNoValue || graph.value(id).is_constant()) continue;
      needs.Add(id, d.inputs[i]);
      read.push_back(id);
    }
  }
  std::reverse(parts.nodes.begin(), parts.nodes.end());
  std::reverse(parts.computed.begin(), parts.computed.end());
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  for (ValueId id : read)
    if (!made.count(id)) parts.inputs.push_back({id, *needs.Of(id)});
  for (const ValuePart& w : wanted)
    if (!made.count(w.value)) Invalid(graph.value(w.value).name, "is asked of a group that does not make it");
  return parts;
}

ShareGraph MakeShareGraph(const Graph& graph, std::span<const int> nodes, std::span<const ValuePart> wanted) {
  ShareGraph share;
  share.graph.share_of_bytes = HasBytes(graph);
  share.parts = PartsOf(graph, nodes, wanted);
  ShareWriter writer(graph, share);
  for (const ValuePart& input : share.parts.inputs) writer.Input(input);
  for (size_t k = 0; k < share.parts.nodes.size(); ++k)
    writer.Write(graph.nodes[size_t(share.parts.nodes[k])], share.parts.computed[k]);
  for (const ValuePart& output : share.parts.outputs) writer.Output(output);
  return share;
}

}  // namespace mete
