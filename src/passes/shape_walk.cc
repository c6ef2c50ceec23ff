#include "passes/shape_walk.h"

#include <algorithm>

#include "base/error.h"
#include "passes/fold_node.h"

namespace mete {
namespace {

bool Any(const std::vector<ValueId>& ids, const std::vector<uint8_t>& marks) {
  return std::any_of(ids.begin(), ids.end(), [&](ValueId id) { return id != kNoValue && marks[size_t(id)]; });
}

void Mark(const std::vector<ValueId>& ids, std::vector<uint8_t>& marks) {
  for (ValueId id : ids)
    if (id != kNoValue) marks[size_t(id)] = 1;
}

}  // namespace

ShapeWalk::ShapeWalk(Graph arithmetic, std::shared_ptr<Graph> graph)
    : arithmetic_(std::move(arithmetic)),
      graph_(std::move(graph)),
      changed_arithmetic_(arithmetic_.values.size()),
      changed_(graph_->values.size()),
      changed_nodes_(graph_->nodes.size()) {
  FindArithmetic();
}

// The nodes on which the open constants depend: backwards from those that the graph reads.
void ShapeWalk::FindArithmetic() {
  std::vector<uint8_t> needed(arithmetic_.values.size());
  for (size_t i = 0; i < graph_->values.size(); ++i) {
    const ValueId open = graph_->values[i].open;
    if (open == kNoValue) continue;
    open_.push_back(ValueId(i));
    needed[size_t(open)] = 1;
  }
  for (size_t n = arithmetic_.nodes.size(); n-- > 0;) {
    const Node& node = arithmetic_.nodes[n];
    if (!Any(node.outputs, needed)) continue;
    Mark(node.inputs, needed);
    const bool computes = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      return id != kNoValue && arithmetic_.value(id).open != kNoValue;
    });
    computed_.push_back({int(n), computes ? FindReference(node.op) : nullptr});
  }
  std::reverse(computed_.begin(), computed_.end());
}

void ShapeWalk::SetInputs(Graph& graph, std::vector<uint8_t>& changed, std::span<const Shape> inputs) {
  std::fill(changed.begin(), changed.end(), uint8_t(all_));
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    Value& input = graph.value(graph.inputs[i]);
    if (input.shape == inputs[i]) continue;
    input.shape = inputs[i];
    changed[size_t(graph.inputs[i])] = 1;
  }
}

// Returns true if an output is not what it was.
bool ShapeWalk::Evaluate(const Node& node, RefKernel kernel) {
  std::vector<Tensor> before;
  for (ValueId id : node.outputs)
    before.push_back(id == kNoValue ? Tensor() : arithmetic_.value(id).constant);
  EvaluateNode(arithmetic_, node, kernel, scratch_);
  for (size_t i = 0; i < before.size(); ++i)
    if (node.outputs[i] != kNoValue && !SameContents(before[i], arithmetic_.value(node.outputs[i]).constant))
      return true;
  return false;
}

void ShapeWalk::WalkArithmetic() {
  for (const auto& [n, kernel] : computed_) {
    const Node& node = arithmetic_.nodes[size_t(n)];
    if (!all_ && !Any(node.inputs, changed_arithmetic_)) continue;
    bool changed = InferOutputs(arithmetic_, node);
    if (kernel) changed |= Evaluate(node, kernel);
    if (changed) Mark(node.outputs, changed_arithmetic_);
  }
  for (ValueId id : open_) {
    Value& value = graph_->value(id);
    const Value& from = arithmetic_.value(value.open);
    if (!all_ && !changed_arithmetic_[size_t(value.open)]) continue;
    value.constant = from.constant;
    value.shape = from.shape;
    changed_[size_t(id)] = 1;
  }
}

void ShapeWalk::WalkGraph() {
  for (size_t n = 0; n < graph_->nodes.size(); ++n) {
    const Node& node = graph_->nodes[n];
    const bool read = all_ || Any(node.inputs, changed_);
    changed_nodes_[n] = read;
    if (read && InferOutputs(*graph_, node)) Mark(node.outputs, changed_);
  }
}

void ShapeWalk::To(std::span<const Shape> inputs) {
  if (inputs.size() != graph_->inputs.size())
    Invalid(graph_->name, "wrong number of inputs; got {}, expected {}", inputs.size(),
            graph_->inputs.size());
  SetInputs(arithmetic_, changed_arithmetic_, inputs);
  SetInputs(*graph_, changed_, inputs);
  try {
    WalkArithmetic();
    WalkGraph();
  } catch (...) {
    all_ = true;  // what is there now belongs to two sizes
    throw;
  }
  all_ = false;
}

}  // namespace mete
