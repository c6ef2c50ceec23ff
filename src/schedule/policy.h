// The assignment of blocks to cores. A parallel region is a number of equal blocks; a policy decides which of
// them a worker takes next. A policy is a state machine whose callers pass it the time: it starts no thread,
// reads no clock and takes no lock, so the same object serves real threads, one call at a time
// (processor/cpu/threads/thread_pool.h), and a virtual clock (simulate.h).
//
// Sources: `ratio` is MNN's fixed share for little cores; `asymo` follows AsyMo (Wang et al., MobiCom 2021):
// cost-directed blocks, one queue per cluster, stealing that respects speed; `sani` follows SANI (OSDI 2026):
// counters that merge and split blocks, and migration. Details that their public texts leave open (block
// sizes, the algebra of the stealing rule) are Mete's own, and are marked so where they are computed.
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

// Blocks per thread of a region that has enough work to divide. A worker computes neighbouring blocks in one
// pass, so many blocks cost nothing. This value is a guess: a block is 3 % of a thread's share, and a finer
// division would not balance the load better.
inline constexpr int64_t kBlocksPerThread = 32;

// The time for which a thread spins after it has finished a region, before it sleeps in the kernel. This
// value is a guess: it is longer than the gap between two layers, and shorter than a user would notice as a
// busy core. Waking a sleeping thread costs 5-50 us.
inline constexpr int64_t kSpinNs = 100'000;
// A thread that has computed nothing for this time sleeps, because another process may need its core: even
// while other threads still compute a region, and between regions in quick succession in which the policy
// gives it nothing. This value is a guess: the time of some layers of a small network.
inline constexpr int64_t kUselessNs = 2'000'000;

struct Region {
  // 1, 2, ...: what a policy learns from a region it uses for the next region of the same id. 0: what it
  // learns is used for no other region.
  int64_t id = 0;
  int64_t blocks = 0;  // >= 0
  // Each `run` blocks, counted from block 0, share data, such as the weights of a panel. A range that begins
  // or ends within a run costs the worker about as much as taking one more range.
  int64_t run = 1;
  // The first `workers` workers take part. The others do not ask for blocks, and the region does not wait for
  // them. 0, or more than there are, means all workers.
  int workers = 0;

  size_t Workers(size_t all) const { return workers > 0 ? std::min(size_t(workers), all) : all; }
};

// A worker's cluster and speed in the plan.
struct WorkerSpeed {
  int cluster = 0;   // 0, 1, ...: workers of one cluster share a cache
  double speed = 1;  // > 0, relative to the fastest worker
  // Whether the core issues instructions in the order of the program. Policies ignore it; kernels choose by
  // it.
  bool in_order = false;
};

// Returns workers with these speeds. Workers of equal speed form a cluster.
std::vector<WorkerSpeed> WorkersOf(const std::vector<double>& speeds);

class Policy {
 public:
  virtual ~Policy() = default;
  // Begins a region. The caller must call Begin before any worker asks for blocks. Regions never overlap, and
  // `now_ns` never decreases. A region does not change what the policy has learned of workers that do not
  // take part in it.
  virtual void Begin(const Region& region, int64_t now_ns) = 0;
  // Returns false if the given worker will get no blocks of the region that has just begun, so that its
  // thread need not be woken.
  virtual bool Takes(int) const { return true; }
  // Assigns the next blocks to `worker`, which takes part in the region, has finished its last blocks and is
  // free at `now_ns`. Returns false if the region has no more blocks for this worker, which then must not ask
  // again. A worker that comes late may never ask, because a region is over when its last block is done.
  virtual bool NextBlock(int worker, int64_t now_ns, BlockRange* range) = 0;

  // The time that regions took, and the time that worker 0 alone would have needed, by its observed speed.
  struct Times {
    double together_ns = 0, alone_ns = 0;
  };
  // Returns the sum over the regions since the last call, which must all be done. A policy that does not
  // learn returns zeros.
  virtual Times TakeTimes() { return {}; }
};

// The cost of taking blocks for a worker: the call, and starting the kernel again.
struct TakeCost {
  int64_t ns = 1000;  // a guess, used until a profile has a measured value
};

// Makes the policy with this name. Throws an Error for an unknown name, no workers or a speed that is not
// positive.
std::unique_ptr<Policy> MakePolicy(std::string_view name, const std::vector<WorkerSpeed>& workers,
                                   TakeCost cost = {});
const std::vector<std::string>& PolicyNames();

}  // namespace mete
