#include "passes/shaped_graphs.h"

#include <algorithm>

#include "passes/pass.h"

namespace mete {

std::set<int> ShapedGraphs::ChangedSizes(std::span<const Shape> inputs) const {
  std::set<int> changed;
  for (size_t i = 0; i < dims_.size(); ++i) {
    const Shape& has = imported_.value(imported_.inputs[i]).shape;
    for (size_t axis = 0; axis < dims_[i].size(); ++axis)
      if (dims_[i][axis] != kFixed && inputs[i][int(axis)] != has[int(axis)]) changed.insert(dims_[i][axis]);
  }
  return changed;
}

bool ShapedGraphs::OpenFor(const std::set<int>& sizes) {
  OpenDims dims = dims_;
  for (std::vector<int>& input : dims)
    for (int& number : input)
      if (!sizes.contains(number)) number = kFixed;
  Opened opened = OpenGraph(imported_, dims, passes_);
  passes_run_ += opened.runs;
  if (!opened.walk) {
    decisive_.insert(sizes);
    note_ = "the passes run for each shape: " + opened.why;
    return false;
  }
  ShareConstants(*opened.walk->graph(), fixed_);
  walk_.emplace(std::move(*opened.walk));
  open_ = sizes;
  return true;
}

ShapedGraphs::Shaped ShapedGraphs::At(std::span<const Shape> inputs) {
  const std::set<int> changed = ChangedSizes(inputs);
  bool opened = walk_ && std::includes(open_.begin(), open_.end(), changed.begin(), changed.end());
  if (!opened) {
    std::set<int> all = changed;
    all.insert(open_.begin(), open_.end());
    opened = !decisive_.contains(all) && OpenFor(all);
  }
  if (opened) {
    walk_->To(inputs);
    return {walk_->graph(), &*walk_};
  }
  auto graph = std::make_shared<Graph>(imported_);
  for (size_t i = 0; i < inputs.size(); ++i) graph->value(graph->inputs[i]).shape = inputs[i];
  (void)RunPasses(*graph, {.optimize = passes_.optimize,
                           .disabled = passes_.disabled,
                           .onnxruntime_sums = passes_.onnxruntime_sums,
                           .precision = passes_.precision,
                           .node_precisions = passes_.node_precisions});
  ++passes_run_;
  ShareConstants(*graph, fixed_);
  return {graph, nullptr};
}

}  // namespace mete
