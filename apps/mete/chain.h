// A chain of runs, as a decoder computes tokens: each run but the first gets outputs of the run before it as
// inputs.
#pragma once

#include <string>
#include <vector>

#include "mete/engine.h"

namespace mete::cli {

struct Chain {
  // The numbers of an input and of the output that the next run gets there.
  struct Feed {
    size_t input = 0, output = 0;
  };
  int steps = 1;
  std::vector<Feed> feeds = {};  // empty: runs do not follow each other
};

// Each of `words` is "INPUT=OUTPUT". UsageError with all of them that name no port, name an input twice, or
// join ports that cannot have the same tensor.
Chain ChainOf(const Model& model, int steps, const std::vector<std::string>& words);

// Runs the chain, the first run on `inputs`. Returns the outputs of the last run, whose trace `options` gets.
std::vector<Tensor> RunChain(Session& session, const Chain& chain, std::vector<Tensor> inputs,
                             const RunOptions& options);

}  // namespace mete::cli
