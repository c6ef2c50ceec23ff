// A graph whose passes have run once for many sizes of its inputs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "graph/graph.h"
#include "passes/shape_walk.h"

namespace mete {

// Which dimensions of a graph's inputs have sizes that may change: for each input and axis the number of a
// size, from 0 on, or kFixed. Dimensions with the same number have the same size.
inline constexpr int kFixed = -1;
using OpenDims = std::vector<std::vector<int>>;

struct PassChoice {
  bool optimize = true;
  std::vector<std::string> disabled;
  bool onnxruntime_sums = false;
  Precision precision = Precision::kF32;
  std::map<std::string, Precision> node_precisions = {};  // PassOptions::node_precisions
};

// Runs the passes twice, with two sets of made-up sizes in the dimensions of `dims`; the other dimensions
// have the sizes that the graph's inputs have. The sizes are different primes, so that two sizes are equal,
// or one is a multiple of another, only where this holds for all sizes. What both results have in common
// therefore holds for all sizes. Where they differ in anything but shapes, a pass has decided by a size, and
// other sizes are tried. `imported` is a graph before its passes.
struct Opened {
  std::optional<ShapeWalk> walk;  // nothing: no sizes serve
  std::string why;                // then: the node by whose sizes a pass decides, or the node that takes none
  int runs = 0;                   // how often the passes ran
};
Opened OpenGraph(const Graph& imported, const OpenDims& dims, const PassChoice& passes);

// Makes each constant of `graph` that `from` has too, under the same name and with the same contents, the
// tensor of `from`: it is then in memory once.
void ShareConstants(Graph& graph, const Graph& from);

}  // namespace mete
