// Whether a region is done sooner with a worker or without it, by how long it took in either way. A worker's
// own times do not say: one that is stopped now and then, as where another process has its core for a while,
// computes as fast as ever in between, and everybody waits for what it has in hand.
#pragma once

#include <vector>

#include "schedule/policy.h"
#include "schedule/two_ways.h"

namespace mete {

class Worth {
 public:
  explicit Worth(const std::vector<WorkerSpeed>& workers);

  // `others_block_ns`: of each worker, how long all others together take for a block; 0 where nobody knows.
  void Begin(const Region& region, const std::vector<double>& others_block_ns, int64_t now_ns);
  void Asks(int worker) { workers_[size_t(worker)].asked = true; }
  void Took(int worker, int64_t blocks) { workers_[size_t(worker)].blocks += blocks; }
  void Done(int worker, int64_t now_ns) { workers_[size_t(worker)].done_ns = now_ns; }  // with what it took

  int stays() const { return stays_; }  // who is never left out: of those who take part, the fastest by plan
  bool LeftOut(int worker) const { return regions_[region_][size_t(worker)].ways.other(); }

 private:
  struct InRegion {                      // a worker's
    TwoWays ways;                        // with it, or left out
    double gain_ns = 0;                  // what others would need for its blocks, less what they wait for it
    bool took = false, refused = false;  // in the last run: blocks; it asked for some and got none
  };
  struct Worker {
    double others_block_ns = 0;
    int64_t blocks = 0, done_ns = 0;  // of this region
    bool asked = false;
  };

  void End();
  static void Next(InRegion& worker, bool* trial);

  const std::vector<WorkerSpeed> speeds_;
  std::vector<Worker> workers_;
  std::vector<std::vector<InRegion>> regions_;
  size_t region_ = 0, count_ = 0;  // workers who take part
  int stays_ = 0;
  int64_t begin_ns_ = 0;
};

}  // namespace mete
