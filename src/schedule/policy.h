// How blocks reach cores. A parallel region is a number of equal blocks; a policy says which of them a worker
// takes next. A policy is a state machine over a clock that it is told: it starts no thread, reads no clock
// and takes no lock, so the same object serves real threads, one call at a time (processor/cpu/pool.h), and a
// virtual clock (simulate.h).
//
// Sources: `ratio` is MNN's fixed share for little cores; `asymo` follows AsyMo (Wang et al., MobiCom 2021):
// cost-directed blocks, a queue a cluster, stealing that respects speed; `sani` follows SANI (OSDI 2026):
// counters that merge and split blocks, and migration. What their public texts leave open (block sizes, the
// stealing rule's algebra) is ours, and is said where it is computed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mete {

// Neighbouring blocks [begin, end), which a worker computes in one pass.
struct BlockRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

// How finely a region is divided, where there is as much to divide. Neighbouring blocks are computed in one
// pass, so that many cost nothing. Guess: 3 % of a thread's share is as evenly as it needs to be dealt out.
inline constexpr int64_t kBlocksPerThread = 32;

// How long a thread spins after a region of its own is over, before it sleeps in the kernel. Longer than the
// gap between two layers, shorter than what a user would notice as a busy core. Guess; waking a sleeping
// thread costs 5-50 us.
inline constexpr int64_t kSpinNs = 100'000;
// However long others still compute a region, a thread that has computed nothing for so long sleeps, also
// between regions that follow each other closely and of which the policy leaves it out: another process may
// want its core. Guess: some layers of a small network.
inline constexpr int64_t kUselessNs = 2'000'000;

struct Region {
  // what was seen of a region serves the next one of the same id, 1, 2, ...; 0: of no other
  int64_t id = 0;
  int64_t blocks = 0;  // >= 0
  // Runs of so many blocks, the first from block 0, share data (the weights of a panel): a range that begins
  // or ends within a run costs the worker about as much more as taking a range does.
  int64_t run = 1;
  // the first so many take part, all others neither ask nor are waited for; 0, or more than there are: all
  int workers = 0;

  size_t Workers(size_t all) const { return workers > 0 ? std::min(size_t(workers), all) : all; }
};

// A worker as the plan sees it.
struct WorkerSpeed {
  int cluster = 0;   // 0, 1, ...: workers of one cluster share a cache
  double speed = 1;  // > 0, of the fastest
};

// Workers that differ in their speeds alone: those of one speed are a cluster.
std::vector<WorkerSpeed> WorkersOf(const std::vector<double>& speeds);

class Policy {
 public:
  virtual ~Policy() = default;
  // Before any worker asks. Regions follow each other and never overlap; `now_ns` never goes back. Who does
  // not take part in a region is as if the region had not been: what was learned of it stays.
  virtual void Begin(const Region& region, int64_t now_ns) = 0;
  // Whether worker w may get something of this region, as it begins: those who may not need not be woken.
  virtual bool Takes(int) const { return true; }
  // Worker w, which takes part, has finished what it had and is free at `now_ns`. False: nothing is left for
  // it in this region, and it does not ask again. A worker that comes late may never ask: a region is over
  // with its last block.
  virtual bool NextBlock(int worker, int64_t now_ns, BlockRange* range) = 0;

  // What the regions took, and what they would have taken worker 0 alone by what was seen of it.
  struct Times {
    double together_ns = 0, alone_ns = 0;
  };
  // Of the regions since the last call, which are all done. None of a policy that learns nothing.
  virtual Times TakeTimes() { return {}; }
};

// What taking blocks costs a worker: the call, and starting the kernel anew.
struct TakeCost {
  int64_t ns = 1000;  // guess, until a profile says more
};

// Error for an unknown name, no workers or a speed that is not positive.
std::unique_ptr<Policy> MakePolicy(std::string_view name, std::vector<WorkerSpeed> workers,
                                   TakeCost cost = {});
const std::vector<std::string>& PolicyNames();

}  // namespace mete
