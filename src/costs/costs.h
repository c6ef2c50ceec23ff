// The costs of a model's nodes on the cores of a machine, as a value from any source (estimate.h), and the
// times that follow for any choice of these cores. Times of arithmetic and of memory are separate, because
// cores that compute together share the memory:
//
//     nodes per nanosecond of a cluster = min(cores / core_ns, gbytes_per_s / bytes)
//
// so that the slower of the two counts. If all clusters together would need more than the memory's bandwidth,
// the rates of all clusters are reduced in proportion.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace mete {

enum class NodeKind : uint8_t {
  kProduct,    // a convolution or a matrix product
  kDepthwise,  // a convolution with one channel per group
  kMoves,      // any other node that reads and writes
  kView,       // a node without work
  kUnknown,    // a node whose shape depends on the data: its cost counts as 0
};
const char* Name(NodeKind kind);

struct NodeCost {
  std::string node, op;
  NodeKind kind = NodeKind::kUnknown;
  bool int8 = false;             // the node computes 8-bit numbers, at their peak rate
  int64_t flops = 0, bytes = 0;  // as in graph/flops.h
  int64_t pieces = 0;            // the most pieces that the node can be divided into; 0: nothing to compute
  // by cluster: time of the whole node on one core if memory is fast enough; 0: only the bytes count
  std::vector<double> core_ns;

  bool guessed = false;  // the times are those of another operator, because this node was not measured

  bool computes() const { return pieces > 0; }
};

struct Costs {
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  std::vector<int> cores;           // by cluster: number of physical cores that may take part
  std::vector<NodeCost> nodes;      // in the order in which they run
  std::vector<int64_t> take_ns;     // by cluster: time to take blocks and start on them
  std::vector<int64_t> barrier_ns;  // by cluster: from the last thread's arrival until all threads have left
  std::vector<int64_t> wake_ns;     // by cluster: until a sleeping thread runs
  // by cluster: bandwidth of its cores together; kNoLimit if core_ns includes the waiting for memory
  std::vector<double> gbytes_per_s;
  double memory_gbytes_per_s = kNoLimit;
};

// Throws one Error that lists all contradictions: lists without one figure per cluster, times that are
// negative or not finite, a node that computes in no time.
void Verify(const Costs& costs);

// The times of a node on some of the cores.
struct NodeTimes {
  // number of blocks: kBlocksPerThread per core, one if one core takes part, at most the node's pieces
  int64_t blocks = 0;
  std::vector<double> block_ns;  // by cluster: time of a block on one core; 0 if the cluster takes no part
};

// Returns the times of `node` on `cores`, the number of cores of each cluster that take part; at least one
// core must take part. The result is empty if the node computes nothing.
NodeTimes TimesOn(const Costs& costs, const NodeCost& node, const std::vector<int>& cores);

// Returns the longest barrier time of the clusters that take part.
int64_t BarrierNs(const Costs& costs, const std::vector<int>& cores);

}  // namespace mete
