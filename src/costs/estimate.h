// What the nodes of a model take on a machine that was described and never measured: a roofline of the machine file's figures. Whatever
// comes of it is an estimate, however exact a simulation reckons with it.
//
// A cluster's cores compute at peak x share (compute_share, or depthwise_share) and move the node's inputs, outputs and weights at the
// cluster's bandwidth, both at once, so that the slower of the two counts:
//
//     nodes a nanosecond of a cluster = min(cores * peak * share / flops, gbytes_per_s / bytes)
//
// Where all clusters together would move more than the memory does, each gets as much less. Data that caches keep from one node to the
// next are not accounted for, nor what exponentials and the like cost: of an operator without multiply-adds the bytes alone count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "machine/file.h"

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
  int64_t blocks = 0;            // 0: nothing to compute
  std::vector<double> block_ns;  // of a block on a core of each cluster that takes part; others 0

  bool computes() const { return blocks > 0; }
};

struct Costs {
  std::vector<int> cores;        // of each cluster, that take part: physical ones
  std::vector<NodeCost> nodes;   // in the order in which they run
  std::vector<int64_t> take_ns;  // by cluster: to take blocks and start on them
  int64_t barrier_ns = 0;        // the longest of those that take part
};

// Of each cluster the cores that have units of their own: threads of one core count once.
std::vector<int> PhysicalCores(const Machine& machine);

// `cores`: of each cluster, how many compute. Error where they are none, or more than there are; where no node
// computes, or the times are beyond belief.
Costs EstimateCosts(const Graph& graph, const MachineFile& file, const std::vector<int>& cores);

// "23 of 36 figures of ... are estimates (compute_share, ...)": of the keys that an estimate of times reads, which ones are their author's.
std::string EstimatedFigures(const MachineFile& file);

}  // namespace mete
