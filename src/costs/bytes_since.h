// How far away a node finds what it reads.
#pragma once

#include "graph/graph.h"

namespace mete {

// Bytes that pass through the caches from when a value was last read or written until `node` reads it, on average over the value: half
// of what each of the two nodes moves, and all that those between them do. Of a network's input, all since the beginning. It looks no
// further back once they are more than `enough`, since a graph of many nodes would take a walk to its beginning for each of them.
double BytesSince(const Graph& graph, const Node& node, ValueId id, double enough);

}  // namespace mete
