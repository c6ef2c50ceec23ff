#include "passes/stack_sequences.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "graph/bodies.h"
#include "graph/node_names.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

constexpr int64_t kEnd = INT64_MAX;  // of the dimensions

// Returns the node of the body that appends to its parameter `list`, whose result is output `result` and
// nothing else; -1: the body does more with the sequence.
int AppenderOf(const Graph& body, ValueId list, size_t result) {
  const Uses uses(body);
  const int at = uses.producer[size_t(body.outputs[result])];
  if (at < 0 || !uses.OnlyReader(list)) return -1;
  const Node& node = body.nodes[size_t(at)];
  const bool appends = node.op == "SequenceInsert" && node.input(0) == list && node.input(1) != kNoValue &&
                       node.input(2) == kNoValue;
  const bool is_read = !uses.readers[size_t(node.outputs[0])].empty();
  const bool once = std::count(body.outputs.begin(), body.outputs.end(), node.outputs[0]) == 1;
  return appends && !is_read && once ? at : -1;
}

class Stacker {
 public:
  explicit Stacker(Graph& graph) : graph_(graph), uses_(graph), names_(graph) {}

  bool Run() {
    for (size_t n = 0, count = graph_.nodes.size(); n < count; ++n)
      if (graph_.nodes[n].op == "Loop" && StackOne(n)) return true;  // the others are for the next walk
    return false;
  }

 private:
  // Replaces the first sequence of a Loop that can be; returns false if none can.
  bool StackOne(size_t loop) {
    const Node& node = graph_.nodes[loop];
    const GraphPtr body = node.attributes.GraphOf("body");
    const size_t captures = CapturesOf(node.attributes);
    if (!body || body->inputs.size() != node.inputs.size() || node.inputs.size() < 2 + captures) return false;
    const size_t carried = node.inputs.size() - 2 - captures;
    if (body->outputs.size() < 1 + carried || node.outputs.size() >= body->outputs.size()) return false;
    for (size_t i = 0; i < std::min(carried, node.outputs.size()); ++i) {
      if (!IsEmptyBefore(node.inputs[2 + i]) || !IsReadable(node.outputs[i])) continue;
      const int appender = AppenderOf(*body, body->inputs[2 + i], 1 + i);
      if (appender < 0) continue;
      Replace(loop, *body, i, size_t(appender));
      return true;
    }
    return false;
  }

  bool IsEmptyBefore(ValueId id) const {
    const int at = id == kNoValue ? -1 : uses_.producer[size_t(id)];
    return at >= 0 && graph_.nodes[size_t(at)].op == "SequenceEmpty";
  }

  bool IsReadable(ValueId list) const {
    if (list == kNoValue || uses_.is_output[size_t(list)]) return false;
    const auto& readers = uses_.readers[size_t(list)];
    return std::all_of(readers.begin(), readers.end(), [&](int n) {
      const Node& node = graph_.nodes[size_t(n)];
      const int64_t axis = node.attributes.Int("axis", 0);
      return axis >= -Shape::kMaxRank && axis <= Shape::kMaxRank &&
             IsOneOf(node.op, {"ConcatFromSequence", "SequenceAt", "SequenceLength"}) &&
             node.inputs[0] == list && std::count(node.inputs.begin(), node.inputs.end(), list) == 1;
    });
  }

  // Makes carried value `i` of the Loop its last scan output, and rewrites the readers of it.
  void Replace(size_t loop, const Graph& old, size_t i, size_t appender) {
    auto body = std::make_shared<Graph>(old);
    NodeNames names(*body);
    const ValueId element = body->AddValue(body->nodes[appender].name + "/element");
    body->AddNode("Identity", names.Unique(body->nodes[appender].name + "/element"),
                  {body->nodes[appender].inputs[1]}, {element});
    body->nodes.erase(body->nodes.begin() + std::ptrdiff_t(appender));
    body->inputs.erase(body->inputs.begin() + 2 + std::ptrdiff_t(i));
    body->outputs.erase(body->outputs.begin() + 1 + std::ptrdiff_t(i));
    body->outputs.push_back(element);
    Node& node = graph_.nodes[loop];
    const ValueId list = node.outputs[i];
    const ValueId stack = graph_.AddValue(node.name + "/stack");
    node.inputs.erase(node.inputs.begin() + 2 + std::ptrdiff_t(i));
    node.outputs.erase(node.outputs.begin() + std::ptrdiff_t(i));
    node.outputs.resize(body->outputs.size() - 2, kNoValue);
    node.outputs.push_back(stack);
    node.attributes.Set("body", GraphPtr(std::move(body)));
    for (const int reader : uses_.readers[size_t(list)]) Rewrite(size_t(reader), stack);
    SortTopologically(graph_);
  }

  // Makes a reader of the sequence one of the stack of its tensors: it becomes the last one of some
  // operators.
  void Rewrite(size_t reader, ValueId stack) {
    const Node node = graph_.nodes[reader];  // a copy: the graph's nodes move
    if (node.op == "SequenceAt") {
      const ValueId place = Op(node, "Squeeze", {node.input(1)});
      return Become(reader, "Gather", {stack, place}, "axis", 0);
    }
    if (node.op == "SequenceLength") return Become(reader, "Squeeze", {Dims(node, stack, 0, 1)});
    Join(reader, node, stack);
  }

  // The stack's own axis goes to the place of the axis along which the tensors are joined. What lies before
  // and behind it is joined to one dimension each, so that it does not matter how many there are; places
  // below 0 count from the end.
  void Join(size_t reader, const Node& node, ValueId stack) {
    const int64_t axis = node.attributes.Int("axis", 0), place = axis >= 0 ? axis + 1 : axis;
    const int64_t next = place == -1 ? kEnd : place + 1;
    const ValueId count = Dims(node, stack, 0, 1);
    if (node.attributes.Int("new_axis", 0) != 0)
      stack = Op(node, "Unsqueeze", {stack, AddInts(graph_, node.name + "/axes", {place})});
    const ValueId before = Dims(node, stack, 1, place), behind = Dims(node, stack, place, kEnd);
    const ValueId flat =
        Op(node, "Reshape", {stack, Joined(node, {count, Product(node, before), Product(node, behind)})},
           "allowzero", 1);
    const ValueId moved = Op(node, "Transpose", {flat});
    graph_.nodes.back().attributes.Set("perm", Ints{1, 0, 2});
    const ValueId joined = Op(node, "Mul", {count, Dims(node, stack, place, next)});
    const ValueId rest = Dims(node, stack, next, kEnd);
    Become(reader, "Reshape", {moved, Joined(node, {before, joined, rest})}, "allowzero", 1);
  }

  using Values = std::initializer_list<ValueId>;

  ValueId Op(const Node& node, const char* op, Values in, const char* name = nullptr, int64_t value = 0) {
    const std::string unique = names_.Unique(node.name + "/" + op);
    const ValueId out = graph_.AddValue(unique);
    graph_.AddNode(op, unique, in, {out});
    if (name) graph_.nodes.back().attributes.Set(name, value);
    return out;
  }
  ValueId Dims(const Node& node, ValueId x, int64_t begin, int64_t end) {
    const ValueId dims = Op(node, "Shape", {x}, "start", begin);
    graph_.nodes.back().attributes.Set("end", end);
    return dims;
  }
  ValueId Product(const Node& node, ValueId dims) { return Op(node, "ReduceProd", {dims}); }
  ValueId Joined(const Node& node, Values dims) { return Op(node, "Concat", dims, "axis", 0); }

  void Become(size_t reader, const char* op, Values in, const char* name = nullptr, int64_t value = 0) {
    Node& node = graph_.nodes[reader];
    node.op = op;
    node.inputs = in;
    node.attributes = {};
    if (name) node.attributes.Set(name, value);
  }

  Graph& graph_;
  const Uses uses_;
  NodeNames names_;
};

}  // namespace

bool StackSequences(Graph& graph) {
  const auto is_list = [](const Node& node) { return node.op == "SequenceEmpty"; };
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), is_list) && Stacker(graph).Run();
}

}  // namespace mete
