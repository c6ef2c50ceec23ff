#include "passes/inline_sequences.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "graph/node_names.h"

namespace mete {
namespace {

// Parts of a SplitToSequence. Guess: more than the layers of a network; a file may ask for any number.
constexpr int64_t kMostParts = 1000;

constexpr std::string_view kOperators[] = {"ConcatFromSequence", "Optional",       "OptionalGetElement",
                                           "OptionalHasElement", "SequenceAt",     "SequenceConstruct",
                                           "SequenceEmpty",      "SequenceErase",  "SequenceInsert",
                                           "SequenceLength",     "SplitToSequence"};

bool HasSequences(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return std::find(std::begin(kOperators), std::end(kOperators), node.op) != std::end(kOperators);
  });
}

class Inliner {
 public:
  explicit Inliner(Graph& graph) : graph_(graph), names_(graph) {}

  bool Run() {
    const std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    for (const Node& node : nodes)
      if (!Write(node)) graph_.nodes.push_back(node);
    // no sequence was replaced: the Split nodes that Split() has added have no reader
    if (!changed_) graph_.nodes = nodes;
    return changed_;
  }

 private:
  using Tensors = std::vector<ValueId>;

  const Tensors* ListOf(ValueId id) const {
    const auto at = lists_.find(id);
    return at == lists_.end() ? nullptr : &at->second;
  }

  // Returns true if other nodes replace the node, and false if the node stays. A node that makes a sequence
  // stays; it is removed with the unused nodes when all of its readers are replaced.
  bool Write(const Node& node) {
    const ValueId in = node.input(0), out = node.output(0);
    if (out == kNoValue) return false;
    const auto optional = optionals_.find(in);
    if (node.op == "SequenceConstruct") lists_[out] = node.inputs;
    else if (node.op == "SequenceEmpty") lists_[out] = {};
    else if (node.op == "Optional") optionals_[out] = in;
    else if (node.op == "Identity" && ListOf(in)) lists_[out] = Tensors(*ListOf(in));
    else if (node.op == "Identity" && optional != optionals_.end()) optionals_[out] = optional->second;
    else if (node.op == "SequenceInsert") Insert(node);
    else if (node.op == "SequenceErase") Erase(node);
    else if (node.op == "SplitToSequence") Split(node);
    else if (node.op == "OptionalGetElement")
      return Forward(node, optional == optionals_.end() ? in : optional->second);
    else if (node.op == "OptionalHasElement")
      return Constant(out, HasElement(optional == optionals_.end() ? in : optional->second));
    else if (node.op == "SequenceAt") return At(node);
    else if (node.op == "SequenceLength") return Length(node);
    else if (node.op == "ConcatFromSequence") return Concat(node);
    return false;
  }

  // Returns the place that input `i` names, among those of `count` tensors and, if `behind`, one behind them;
  // `otherwise` if there is no such input, and nothing if it is not known.
  std::optional<size_t> PlaceOf(const Node& node, size_t i, size_t count, int64_t otherwise,
                                bool behind = false) const {
    int64_t place = otherwise;
    if (const ValueId id = node.input(i); id != kNoValue) {
      if (!IsConstant(graph_, id) || graph_.value(id).constant.elements() != 1) return std::nullopt;
      const Tensor& constant = graph_.value(id).constant;
      if (constant.type() == DType::kI64) place = *constant.as<int64_t>();
      else if (constant.type() == DType::kI32) place = *constant.as<int32_t>();
      else return std::nullopt;
    }
    const int64_t last = int64_t(count) - (behind ? 0 : 1);
    const int64_t from_begin = place < 0 ? place + int64_t(count) : place;
    if (from_begin < 0 || from_begin > last)
      Invalid(node.name, "the place in the sequence is out of range; got {}, expected {} to {}", place,
              -int64_t(count), last);
    return size_t(from_begin);
  }

  void Insert(const Node& node) {
    const Tensors* list = ListOf(node.inputs[0]);
    if (!list || node.inputs.size() < 2) return;
    const auto place = PlaceOf(node, 2, list->size(), int64_t(list->size()), true);
    if (!place) return;
    Tensors longer = *list;
    longer.insert(longer.begin() + std::ptrdiff_t(*place), node.inputs[1]);
    lists_[node.outputs[0]] = std::move(longer);
  }

  void Erase(const Node& node) {
    const Tensors* list = ListOf(node.inputs[0]);
    const auto place = list ? PlaceOf(node, 1, list->size(), -1) : std::nullopt;
    if (!place) return;
    Tensors shorter = *list;
    shorter.erase(shorter.begin() + std::ptrdiff_t(*place));
    lists_[node.outputs[0]] = std::move(shorter);
  }

  bool At(const Node& node) {
    const Tensors* list = ListOf(node.inputs[0]);
    const auto place = list ? PlaceOf(node, 1, list->size(), 0) : std::nullopt;
    return place && Forward(node, (*list)[*place]);
  }

  bool Forward(const Node& node, ValueId from) {
    if (from == kNoValue) return false;
    if (const Tensors* list = ListOf(from)) {
      lists_[node.outputs[0]] = Tensors(*list);
      return false;
    }
    Add("Identity", node.name, {from}, node.outputs[0]);
    return true;
  }

  bool Length(const Node& node) {
    const Tensors* list = ListOf(node.inputs[0]);
    if (!list) return false;
    const int64_t length = int64_t(list->size());
    return Constant(node.outputs[0], Tensor::Of<int64_t>(DType::kI64, {}, std::span(&length, 1)));
  }

  static Tensor HasElement(ValueId id) {
    const bool has = id != kNoValue;
    return Tensor::Of<bool>(DType::kBool, {}, std::span(&has, 1));
  }

  bool Constant(ValueId id, Tensor tensor) {
    Value& value = graph_.value(id);
    value.type = tensor.type();
    value.shape = tensor.shape();
    value.constant = std::move(tensor);
    return changed_ = true;
  }

  bool Concat(const Node& node) {
    const Tensors* list = ListOf(node.inputs[0]);
    if (!list) return false;
    if (list->empty()) Invalid(node.name, "joins an empty sequence; expected a tensor or more");
    Attributes along;
    along.Set("axis", node.attributes.Int("axis", 0));
    Tensors joined = *list;
    if (node.attributes.Int("new_axis", 0) != 0)
      for (size_t i = 0; i < joined.size(); ++i)
        joined[i] = Emit("Unsqueeze", fmt::format("{}/element{}", node.name, i),
                         {joined[i], Axes(node, node.attributes.Int("axis", 0))});
    Add("Concat", node.name, std::move(joined), node.outputs[0], along);
    return true;
  }

  // How a value is split: the input of Split with the sizes, and the number of parts.
  struct Parts {
    ValueId sizes;
    int64_t count;
  };

  std::optional<Parts> PartsOf(const Node& node, int64_t axis) {
    const ValueId split = node.input(1);
    if (split != kNoValue && graph_.value(split).shape.known() && graph_.value(split).shape.rank() == 1)
      return Parts{split, graph_.value(split).shape[0]};  // also where only the run knows the sizes
    const Shape& shape = graph_.value(node.inputs[0]).shape;
    const auto given = IntsOf(graph_, split);
    if (!shape.known() || (split != kNoValue && (!given || given->size() != 1))) return std::nullopt;
    const int at = int(axis < 0 ? axis + shape.rank() : axis);
    const int64_t part = given ? given->at(0) : 1;
    if (at < 0 || at >= shape.rank() || part < 1 || shape[at] > kMostParts) return std::nullopt;
    Ints sizes;
    for (int64_t left = shape[at]; left > 0; left -= part) sizes.push_back(std::min(part, left));
    return Parts{graph_.AddConstant(node.name + "/sizes", Tensor::Ints(sizes)), int64_t(sizes.size())};
  }

  void Split(const Node& node) {
    const int64_t axis = node.attributes.Int("axis", 0);
    const auto split = PartsOf(node, axis);
    if (!split || split->count < 1 || split->count > kMostParts) return;
    const bool squeezes = node.input(1) == kNoValue && node.attributes.Int("keepdims", 1) == 0;
    Attributes along;
    along.Set("axis", axis);
    Tensors parts;
    for (int64_t i = 0; i < split->count; ++i)
      parts.push_back(graph_.AddValue(fmt::format("{}/part{}", node.name, i)));
    graph_.AddNode("Split", names_.Unique(node.name + "/split"), {node.inputs[0], split->sizes}, parts,
                   along);
    if (squeezes)
      for (size_t i = 0; i < parts.size(); ++i)
        parts[i] = Emit("Squeeze", fmt::format("{}/element{}", node.name, i), {parts[i], Axes(node, axis)});
    lists_[node.outputs[0]] = std::move(parts);
  }

  ValueId Axes(const Node& node, int64_t axis) {
    return graph_.AddConstant(node.name + "/axes", Tensor::Ints(std::array{axis}));
  }

  void Add(const char* op, const std::string& name, Tensors in, ValueId out, Attributes attributes = {}) {
    graph_.AddNode(op, names_.Unique(name + "/tensors"), std::move(in), {out}, std::move(attributes));
    changed_ = true;
  }

  ValueId Emit(const char* op, const std::string& name, Tensors in) {
    const ValueId out = graph_.AddValue(name);
    graph_.AddNode(op, names_.Unique(name), std::move(in), {out});
    return out;
  }

  Graph& graph_;
  NodeNames names_;
  std::map<ValueId, Tensors> lists_;      // by sequence: its tensors
  std::map<ValueId, ValueId> optionals_;  // by optional value: what it has; kNoValue: nothing
  bool changed_ = false;
};

}  // namespace

bool InlineSequences(Graph& graph) { return HasSequences(graph) && Inliner(graph).Run(); }

}  // namespace mete
