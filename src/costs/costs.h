// What the nodes of a model take on the cores of a machine: a value, from whatever source (estimate.h), and
// what follows from it for any choice of these cores. Arithmetic and memory are kept apart, because cores
// that compute together share the memory:
//
//     nodes a nanosecond of a cluster = min(cores / core_ns, gbytes_per_s / bytes)
//
// so that the slower of the two counts; where all clusters together would move more than the memory does,
// each gets as much less.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace mete {

enum class NodeKind : uint8_t {
  kProduct,    // a convolution or a matrix product
  kDepthwise,  // a convolution of one channel a group
  kMoves,      // everything else that reads and writes
  kView,       // nothing to do
  kUnknown,    // a shape that only the data tell: counted as nothing
};
const char* Name(NodeKind kind);

struct NodeCost {
  std::string node, op;
  NodeKind kind = NodeKind::kUnknown;
  bool int8 = false;             // of 8-bit numbers, at their peak
  int64_t flops = 0, bytes = 0;  // as in graph/flops.h
  int64_t pieces = 0;            // that it can be divided into at the finest; 0: nothing to compute
  // all of it on one core of each cluster, as long as memory keeps up; 0: its bytes alone count
  std::vector<double> core_ns;

  bool guessed = false;  // the times are of something else, as nobody has measured this

  bool computes() const { return pieces > 0; }
};

struct Costs {
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  std::vector<int> cores;           // of each cluster, that may take part: physical ones
  std::vector<NodeCost> nodes;      // in the order in which they run
  std::vector<int64_t> take_ns;     // by cluster: to take blocks and start on them
  std::vector<int64_t> barrier_ns;  // by cluster: from the last thread's end to all knowing it
  std::vector<int64_t> wake_ns;     // by cluster: until a thread that sleeps runs
  // by cluster, of its cores together; kNoLimit where core_ns has the waiting for memory in it
  std::vector<double> gbytes_per_s;
  double memory_gbytes_per_s = kNoLimit;
};

// Error listing what contradicts itself: lists that are not a figure a cluster, times that are negative or
// not finite, a node that computes in no time.
void Verify(const Costs& costs);

// A node on some of the cores.
struct NodeTimes {
  // that it is divided into: kBlocksPerThread a core, one for one core, no more than its pieces
  int64_t blocks = 0;
  std::vector<double> block_ns;  // of a block on a core of each cluster that takes part; others 0
};

// `cores`: of each cluster, how many take part: one at least. Nothing of a node that computes nothing.
NodeTimes TimesOn(const Costs& costs, const NodeCost& node, const std::vector<int>& cores);

// The longest of the clusters that take part.
int64_t BarrierNs(const Costs& costs, const std::vector<int>& cores);

}  // namespace mete
