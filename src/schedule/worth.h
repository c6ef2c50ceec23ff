// Decides whether a region is done sooner with a worker or without it, by the time that the region took in
// either way. The worker's own times do not show this: a worker that is stopped now and then, because another
// process has its core for a while, computes at full speed in between, but all other workers wait for its
// last range.
#pragma once

#include <vector>

#include "schedule/policy.h"
#include "schedule/two_ways.h"

namespace mete {

class Worth {
 public:
  explicit Worth(const std::vector<WorkerSpeed>& workers);

  // Begins a region. `others_block_ns`: for each worker, the time that all others together take for a block;
  // 0 if it is unknown.
  void Begin(const Region& region, const std::vector<double>& others_block_ns, int64_t now_ns);
  void Asks(int worker) { workers_[size_t(worker)].asked = true; }
  void Took(int worker, int64_t blocks) { workers_[size_t(worker)].blocks += blocks; }
  // The worker has finished the blocks that it took.
  void Done(int worker, int64_t now_ns) { workers_[size_t(worker)].done_ns = now_ns; }

  // Returns the worker that is never left out: the fastest, by plan, of those that take part.
  int stays() const { return stays_; }
  bool LeftOut(int worker) const { return regions_[region_][size_t(worker)].ways.other(); }

 private:
  struct InRegion {      // the state of a worker in a region
    TwoWays ways;        // with the worker (usual), or without it
    double gain_ns = 0;  // average time of others for its blocks, less the time that they wait for it
    // the last run: whether the worker took blocks, and whether it asked and got none
    bool took = false, refused = false;
  };
  struct Worker {
    double others_block_ns = 0;
    int64_t blocks = 0, done_ns = 0;  // in this region
    bool asked = false;
  };

  void End();
  static void Next(InRegion& worker, bool* trial);

  const std::vector<WorkerSpeed> speeds_;
  std::vector<Worker> workers_;
  std::vector<std::vector<InRegion>> regions_;
  size_t region_ = 0, count_ = 0;  // the region's id, and the number of workers that take part
  int stays_ = 0;
  int64_t begin_ns_ = 0;
};

}  // namespace mete
