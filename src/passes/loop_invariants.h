// What each run of a Loop would compute or carry again is computed before it.
#pragma once

#include "graph/graph.h"

namespace mete {

// Makes captures of the values that a Loop carries without a change, which is how exporters hand weights to a
// body, and moves products of captures and constants, and sums of these, out of its body. For example,
// `Loop(n, -, state, w, x) {body: state + x * w, w, x}` becomes `Loop(n, -, state, x * w)`. Captures without
// a reader are left out. Returns true if the graph has changed; the new values have types and shapes.
bool MoveLoopInvariants(Graph& graph);

}  // namespace mete
