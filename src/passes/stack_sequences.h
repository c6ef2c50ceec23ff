// Sequences that a Loop of unknown runs lets grow become a scan output: a tensor with an element of each run.
#pragma once

#include "graph/graph.h"

namespace mete {

// Replaces a sequence that is empty before a Loop, to which each run appends one tensor, and which is only
// joined, counted or asked for an element behind the Loop. The tensors must have one shape, which the run
// checks. For example, ConcatFromSequence(Loop(n, -, SequenceEmpty) {body: SequenceInsert(list, x)})
// {new_axis=1} becomes a Loop with the scan output x. Returns true if the graph has changed; types and shapes
// of new values are to be inferred.
bool StackSequences(Graph& graph);

}  // namespace mete
