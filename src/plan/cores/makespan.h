// How long a region takes on workers of unequal speed if whole blocks are dealt out as well as they can be:
// what the policy `adaptive` comes near to once it knows the workers' times.
#pragma once

#include <cstdint>
#include <vector>

namespace mete {

struct Taker {
  double there_ns = 0;  // from the region's begin until the worker asks: the region does not end before
  double take_ns = 0;   // until it has blocks, which it takes once
  double block_ns = 0;  // above 0
};

struct Dealt {
  // the least time after which all blocks are computed and every worker has asked
  double done_ns = 0;
  std::vector<int64_t> blocks;  // of each worker
};

// At least one worker.
Dealt DealOut(int64_t blocks, const std::vector<Taker>& workers);

}  // namespace mete
