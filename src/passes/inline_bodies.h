// Bodies of control flow whose condition or number of runs is known become nodes of the graph that they are
// in, where all passes see them.
#pragma once

#include "graph/graph.h"

namespace mete {

// Replaces an If whose condition is constant by the branch that it takes, and a Loop of a few known runs by
// these runs. Captures that are constants become constants of the bodies. For example,
// `Loop(3, -, x) {body: x + i}` becomes x + 0 + 1 + 2. Returns true if the graph has changed; types and
// shapes of new values are to be inferred.
bool InlineBodies(Graph& graph);

}  // namespace mete
