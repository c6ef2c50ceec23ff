// Passes: Graph -> Graph, each named, timed, switchable, and verified after.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace mete {

struct Pass {
  const char* name;
  const char* what;     // one line for people
  bool (*run)(Graph&);  // true where it changed something
};

// The optimising passes, in the order in which they run.
std::span<const Pass> OptimizingPasses();

// The names of those that run when a graph has been divided over devices, if it is: each share has them by
// itself (partition/divide.h).
std::vector<std::string> PassesBehindDivision();

struct PassRecord {
  std::string name;
  double ms = 0;
  int nodes_before = 0, nodes_after = 0;
  bool changed = false;
};

// What constant folding may spend, so that a small file cannot ask for 10^12 steps or all memory. What
// passes a limit is left to run with the other nodes.
struct FoldLimits {
  int64_t max_value_bytes = int64_t(1) << 33;  // of any value's shape: more is an error
  // of one folded value; guess: VGG's first full layer has 411 MB
  int64_t max_result_bytes = int64_t(1) << 30;
  int64_t max_bytes = int64_t(3) << 29;  // of all: the promise is 2 GB with everything else
  // inner-loop steps of all; guess: some 10 s of reference kernels
  double max_work = 4e9;
};

// What was spent of max_bytes and max_work, where a graph is folded more than once.
struct FoldSpent {
  int64_t bytes = 0;
  double work = 0;
};

// Infers every type and shape, evaluating what depends on constants alone; always runs first, because
// shapes may hang on it. Throws one Error with the problems of all nodes.
// With `keep_dequantized`, a DequantizeLinear of constants stays, so that FuseQuantized can read the
// integers. `spent` counts on; null: nothing was spent before.
bool FoldConstants(Graph& graph, const FoldLimits& limits = {}, bool keep_dequantized = false,
                   FoldSpent* spent = nullptr);

// Folds, then runs every pass that `disabled` does not name; drops what became unused and verifies after
// each. Error where a name in `disabled` is unknown.
std::vector<PassRecord> RunPasses(Graph& graph, bool optimize, const std::vector<std::string>& disabled,
                                  const FoldLimits& limits = {});

// The passes, a file each.
// fuse_quantized.cc; leaves DequantizeLinear of constants, to be folded next
bool FuseQuantized(Graph& graph);
bool Simplify(Graph& graph);          // simplify.cc
bool FoldBatchNorm(Graph& graph);     // fold_batchnorm.cc
bool FoldPad(Graph& graph);           // fold_pad.cc
bool FusePatterns(Graph& graph);      // fuse_patterns.cc
bool ToNhwc(Graph& graph);            // layout.cc
bool CancelTransposes(Graph& graph);  // transposes.cc
bool FuseMatMul(Graph& graph);        // fuse_matmul.cc
bool FuseEpilogues(Graph& graph);     // fuse_epilogues.cc
bool FuseElementwise(Graph& graph);   // fuse_elementwise.cc
bool ConcatInPlace(Graph& graph);     // concat_in_place.cc

}  // namespace mete
