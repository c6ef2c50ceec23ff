// Passes rewrite a Graph. Each has a name, can be disabled, is timed, and its result is verified.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/precision.h"
#include "graph/graph.h"

namespace mete {

struct Pass {
  const char* name;
  const char* what;     // a description in one line, for users
  bool (*run)(Graph&);  // returns true if it changed the graph
};

// The optimising passes, in the order in which they run.
std::span<const Pass> OptimizingPasses();

// Returns the names of the passes that run after a graph has been divided over devices: they run on each
// device's share separately (partition/divide.h).
std::vector<std::string> PassesBehindDivision();

struct PassRecord {
  std::string name;
  double ms = 0;
  int nodes_before = 0, nodes_after = 0;
  bool changed = false;
};

// The limits of constant folding, so that a small file cannot request 10^12 steps or all memory. Nodes beyond
// a limit are not folded, but run with the other nodes.
struct FoldLimits {
  // bytes of any value, folded or not; a larger one is an error
  int64_t max_value_bytes = int64_t(1) << 33;
  // bytes of one folded value; a guess: the weights of VGG's first fully connected layer have 411 MB
  int64_t max_result_bytes = int64_t(1) << 30;
  // bytes of all folded values; Mete promises 2 GB with everything else
  int64_t max_bytes = int64_t(3) << 29;
  // inner-loop steps of all folded nodes; a guess: about 10 s of reference kernels
  double max_work = 4e9;
};

// The amounts of max_bytes and max_work that were used, for a graph that is folded more than once.
struct FoldSpent {
  int64_t bytes = 0;
  double work = 0;
};

// Per value of a graph: whether it depends on sizes that change from run to run.
using Varying = std::vector<uint8_t>;

struct FoldOptions {
  FoldLimits limits = {};
  // no DequantizeLinear of constants is folded, so that FuseQuantized can read the integers
  bool keep_dequantized = false;
  FoldSpent* spent = nullptr;  // the amounts used are added to it; null: nothing was used before
  // Marks the inputs with sizes that change, and gets a mark for each value that depends on them. Constants
  // among those are open (Value::open), and the nodes that compute them stay in the graph.
  Varying* varying = nullptr;
};

// Infers every type and shape, and evaluates nodes that depend only on constants. It always runs first,
// because shapes may depend on folded values. Throws one Error with the problems of all nodes.
bool FoldConstants(Graph& graph, const FoldOptions& options = {});

struct PassOptions {
  bool optimize = true;                    // false: constants are folded and no other pass runs
  std::vector<std::string> disabled = {};  // passes that do not run; Error if a name is unknown
  bool onnxruntime_sums = false;           // LoadOptions::onnxruntime_sums
  // What the pass round-operands allows: for the nodes of these names, or for all if there are none.
  Precision precision = Precision::kF32;
  std::map<std::string, Precision> node_precisions = {};
  FoldLimits limits = {};
  Graph* divisible = nullptr;  // gets a copy of the graph as it is before PassesBehindDivision()
};

// Folds constants, then runs the other passes. After each pass that changed the graph, removes unused nodes
// and values and verifies the graph.
std::vector<PassRecord> RunPasses(Graph& graph, const PassOptions& options = {});

// The passes, each in a file of its own.
// quantization.cc and fuse_quantized.cc; the remaining DequantizeLinear are folded next
bool FuseQuantized(Graph& graph);
bool FuseQuantizedAsOnnxRuntime(Graph& graph);
bool WidenHalves(Graph& graph);    // widen_halves.cc
bool WriteEinsums(Graph& graph);   // write_einsums.cc
bool Simplify(Graph& graph);       // simplify.cc
bool FoldBatchNorm(Graph& graph);  // fold_batchnorm.cc
bool FoldDilation(Graph& graph);   // fold_dilation.cc
bool FoldPad(Graph& graph);        // fold_pad.cc
bool FoldBlocks(Graph& graph);     // fold_blocks.cc
bool FusePatterns(Graph& graph);   // fuse_patterns.cc
// transposed_convolutions.cc; the second one is for what has fast kernels of Conv alone: a GPU, and bytes
bool WriteTransposedConvolutions(Graph& graph);
void WriteEveryTransposedConvolution(Graph& graph);
bool WidenLineConvolutions(Graph& graph);    // line_convolutions.cc
bool SliceVolumeConvolutions(Graph& graph);  // volume_convolutions.cc
// round_operands.cc; RunPasses() gives it the user's precisions
bool RoundOperands(Graph& graph, Precision precision, const std::map<std::string, Precision>& of_nodes = {});
inline bool RoundNoOperands(Graph& graph) { return RoundOperands(graph, Precision::kF32); }
// Whether a node may have these operands, as the pass asks.
bool MayRound(const Graph& graph, const Node& node, Precision precision);
bool ToNhwc(Graph& graph);            // layout.cc
bool CancelTransposes(Graph& graph);  // transposes.cc
bool FuseMatMul(Graph& graph);        // fuse_matmul.cc
bool FuseEpilogues(Graph& graph);     // fuse_epilogues.cc
bool FuseElementwise(Graph& graph);   // fuse_elementwise.cc
bool ConcatInPlace(Graph& graph);     // concat_in_place.cc

}  // namespace mete
