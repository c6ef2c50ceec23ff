// What a policy has seen of its workers: for each region, in this run and in earlier ones, how long they take.
#pragma once

#include <vector>

#include "schedule/policy.h"

namespace mete {

// A worker's time for n blocks is modelled as factor * slowdown * ((1 + cuts) * take_ns + n * block_ns), where cuts are the ends of its
// range within a run. The two times are the region's, so that what a
// worker of few blocks shows of the one and a worker of many blocks of the other serves both. The factor is the worker's in that region, 1
// for the fastest by plan; the slowdown the worker's just now.
class Speeds {
 public:
  Speeds(const std::vector<WorkerSpeed>& workers, TakeCost cost);

  void Begin(const Region& region, int64_t now_ns);
  void Start(int worker, const BlockRange& range, int64_t now_ns);  // begins to compute
  void Finish(int worker, int64_t now_ns);                          // asks: has computed what it started, if anything

  // Expected for this region. Only ratios mean something while nothing is Known() of it.
  double BlockNs(int worker) const { return Factor(worker) * known().block_ns; }
  double TakeNs(int worker) const { return Factor(worker) * known().take_ns; }
  bool Known() const { return known().seen > 0; }
  // By how much a worker's times for this region have been off of late, relative to what was expected; an average.
  double Spread(int worker) const { return known().workers[size_t(worker)].spread; }
  // When the worker is expected to ask next. One that is late will be as late again.
  double FreeAtNs(int worker, int64_t now_ns) const;

 private:
  struct InRegion {  // a worker's
    double factor = 0;
    double spread = 0;
    int seen = 0;
    bool computed = true;  // something, the last time
  };
  struct Times {  // a region's
    double block_ns = 1, take_ns = 0;
    int seen = 0;  // observations of block_ns
    int seen_few = 0;  // of take_ns
    std::vector<InRegion> workers;
  };
  struct Worker {
    double by_plan = 1;     // its factor
    double factor = 1;      // over all regions
    double seen_slowdown = 1;
    double slowdown = 1;    // just now, of the usual; 1 where it may be noise
    double join_ns = 0;     // from a region's begin to its first question
    bool asked = false;     // in this region
    BlockRange range;       // in hand
    int64_t start_ns = 0;
  };

  const Times& known() const { return times_[region_]; }
  double Factor(int worker) const { return known().workers[size_t(worker)].factor * workers_[size_t(worker)].slowdown; }
  double FairShare(int worker) const;
  double TakesOf(const Worker& w) const { return double(1 + Cuts(w.range)); }
  int Cuts(const BlockRange& range) const { return (range.begin % now_.run != 0) + (range.end % now_.run != 0 && range.end != now_.blocks); }
  void Learn(int worker, double ns);
  void Forget(Times& times);

  std::vector<Worker> workers_;
  std::vector<Times> times_;  // by region
  const TakeCost cost_;
  int reference_ = 0;  // the worker whose factor is 1
  Region now_;
  size_t region_ = 0;
  int64_t begin_ns_ = 0;
};

}  // namespace mete
