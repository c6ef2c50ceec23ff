// The makespan of a region on workers of unequal speed if whole blocks are distributed optimally. The policy
// `adaptive` comes near to this time once it knows the workers' times.
#pragma once

#include <cstdint>
#include <vector>

namespace mete {

struct Taker {
  double there_ns = 0;  // time until the worker asks for blocks; the region does not end earlier
  double take_ns = 0;   // time to take all its blocks at once
  double block_ns = 0;  // time of a block; above 0
};

struct Dealt {
  // the least time after which all blocks are computed and every worker has asked
  double done_ns = 0;
  std::vector<int64_t> blocks;  // by worker
};

// Distributes the blocks. There must be at least one worker.
Dealt DealOut(int64_t blocks, const std::vector<Taker>& workers);

}  // namespace mete
