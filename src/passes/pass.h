// Passes: Graph -> Graph, each named, timed, switchable, and verified after.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace mete {

struct Pass {
  const char* name;
  const char* what;       // one line for people
  bool (*run)(Graph&);    // true where it changed something
};

// The optimising passes, in the order in which they run.
std::span<const Pass> OptimizingPasses();

struct PassRecord {
  std::string name;
  double ms = 0;
  int nodes_before = 0, nodes_after = 0;
  bool changed = false;
};

// Infers every type and shape, evaluating what depends on constants alone; always runs first, because
// shapes may hang on it. Throws one Error with the problems of all nodes.
bool FoldConstants(Graph& graph);

// Folds, then runs every pass that `disabled` does not name; drops what became unused and verifies after
// each. Error where a name in `disabled` is unknown.
std::vector<PassRecord> RunPasses(Graph& graph, bool optimize, const std::vector<std::string>& disabled);

// The passes, a file each.
bool Simplify(Graph& graph);             // simplify.cc
bool FoldBatchNorm(Graph& graph);        // fold_batchnorm.cc
bool FoldPad(Graph& graph);              // fold_pad.cc
bool FusePatterns(Graph& graph);         // fuse_patterns.cc
bool ToNhwc(Graph& graph);               // layout.cc
bool CancelTransposes(Graph& graph);     // transposes.cc
bool FuseEpilogues(Graph& graph);        // fuse_epilogues.cc
bool FuseElementwise(Graph& graph);      // fuse_elementwise.cc

}  // namespace mete
