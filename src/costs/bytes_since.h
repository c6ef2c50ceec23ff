// The reuse distance of a value that a node reads: the bytes that pass through the caches since the last
// access.
#pragma once

#include "graph/graph.h"

namespace mete {

// Returns the bytes that pass through the caches from the last access to value `id` until `node` reads it, on
// average over the value: half of the bytes of these two nodes, and all bytes of the nodes between them. For
// a value that no earlier node accesses or computes (an input or a constant) the result is at least
// `run_bytes`, those of a whole run, because the caller may have the same data in the same place in each run.
// The search goes back only until the sum exceeds `enough`, because otherwise each node of a large graph
// could need a walk to its beginning.
double BytesSince(const Graph& graph, const Node& node, ValueId id, double run_bytes, double enough);

// Returns the bytes that pass through the caches in one run, as far as a cache can keep some of them until
// the next run: the constants that nodes read, plus the largest number of bytes of computed values that one
// node moves. Computed values reuse the memory of earlier ones, so that the largest node stands for all.
double BytesOfRun(const Graph& graph);

}  // namespace mete
