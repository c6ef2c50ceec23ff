// How far away a node finds what it reads, in bytes that pass through the caches meanwhile.
#pragma once

#include "graph/graph.h"

namespace mete {

// Bytes that pass through the caches from when a value was last read or written until `node` reads it, on
// average over the value: half of what each of the two nodes moves, and all that those between them do. Of
// what no node before has touched and none computes, all of a run at least, `run_bytes`: the caller may have
// it in the same place again. It looks no further back once they are more than `enough`, since a graph of
// many nodes would take a walk to its beginning for each of them.
double BytesSince(const Graph& graph, const Node& node, ValueId id, double run_bytes, double enough);

// Bytes that pass through the caches in one run, as far as a cache can still have some of them in the next
// one: the constants that nodes read, and beside them the most computed values that one node moves, since
// such values come to lie where earlier ones did.
double BytesOfRun(const Graph& graph);

}  // namespace mete
