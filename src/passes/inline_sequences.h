// Sequences and optional values that only hand tensors on, as exporters write lists of a program.
#pragma once

#include "graph/graph.h"

namespace mete {

// Replaces the operators that read sequences of known tensors by those that read the tensors. For example,
// ConcatFromSequence(SequenceInsert(SequenceConstruct(a), b)) becomes Concat(a, b). Returns true if the graph
// has changed; types and shapes of new values are to be inferred. A sequence stays whose length or whose
// tensors depend on what a run computes: no kernel has sequences.
bool InlineSequences(Graph& graph);

}  // namespace mete
