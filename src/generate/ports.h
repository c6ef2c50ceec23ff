// What the inputs and outputs of a decoder network mean, by their names.
#pragma once

#include <vector>

#include "mete/engine.h"

namespace mete {

// kUsesCache: whether this run has earlier tokens, for a file that has a branch for either.
enum class DecoderInput { kTokens, kMask, kPositions, kPast, kUsesCache };

// An input for the keys or values of earlier tokens, and the output with those of this run behind them.
struct CachePorts {
  size_t past = 0, present = 0;  // numbers of the input and of the output
};

struct DecoderPorts {
  std::vector<DecoderInput> inputs;  // one for each input of the model
  std::vector<CachePorts> caches;    // empty: the network sees all tokens in each run
  size_t logits = 0;                 // number of the output
};

// Error INVALID_ARGUMENT with all inputs and outputs that no decoder has.
DecoderPorts PortsOfDecoder(const Model& model);

// Returns the shape of a cache without any tokens, of one text: an open first dimension, or one that is named
// "batch", is 1. Error if not exactly one other dimension is open.
Shape EmptyCache(const Port& port);

}  // namespace mete
