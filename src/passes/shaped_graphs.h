// The graph of a model at any sizes of its open dimensions, after its passes.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "passes/open_graph.h"

namespace mete {

class ShapedGraphs {
 public:
  // `imported`: before the passes. `fixed`: after them, at the shapes that `imported` has; its constants are
  // shared with the graphs that are made here. Keeps references to both.
  ShapedGraphs(const Graph& imported, const Graph& fixed, OpenDims dims, PassChoice passes)
      : imported_(imported), fixed_(fixed), dims_(std::move(dims)), passes_(std::move(passes)) {}

  // A graph whose inputs have the shapes that were asked for.
  struct Shaped {
    std::shared_ptr<const Graph> graph;
    // The walk that gives this graph its shapes, which last until the next call of At(); null: the shapes
    // are the graph's own, because the passes ran for them.
    const ShapeWalk* walk = nullptr;
  };
  // `inputs` must have the ranks of the graph's inputs and differ from them in open dimensions only. The
  // passes run at the first call and where dimensions change that did not change before; dimensions that
  // never change keep the sizes of `imported`, so that the passes can use them. Errors as those of the
  // passes.
  Shaped At(std::span<const Shape> inputs);

  int64_t passes_run() const { return passes_run_; }  // how often the passes ran
  // Why the passes run for each shape; empty where they do not.
  const std::string& note() const { return note_; }

 private:
  std::set<int> ChangedSizes(std::span<const Shape> inputs) const;
  bool OpenFor(const std::set<int>& sizes);

  const Graph &imported_, &fixed_;
  const OpenDims dims_;
  const PassChoice passes_;
  std::optional<ShapeWalk> walk_;
  std::set<int> open_;                // the sizes that `walk_` can change
  std::set<std::set<int>> decisive_;  // sizes that cannot change together, because passes decide by them
  int64_t passes_run_ = 0;
  std::string note_;
};

}  // namespace mete
