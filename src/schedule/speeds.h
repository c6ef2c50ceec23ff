// What a policy has seen of its workers: for each region, in this run and in earlier ones, how long they
// take.
#pragma once

#include <vector>

#include "schedule/policy.h"

namespace mete {

// A worker's time for n blocks is modelled as factor * slowdown * (take_ns + cuts * cut_ns + n * block_ns),
// where cuts are the ends of its range within a run. The three times are the region's, so that what a worker
// of few blocks shows of the one and a worker of many of the other serves both. The factor is the worker's in
// that region, 1 for the fastest by plan; the slowdown is the worker's just now.
class Speeds {
 public:
  Speeds(const std::vector<WorkerSpeed>& workers, TakeCost cost);

  void Begin(const Region& region, int64_t now_ns);
  void Start(int worker, const BlockRange& range, int64_t now_ns);  // begins to compute
  // asks: has computed what it started; whether it had
  bool Finish(int worker, int64_t now_ns);
  // it shall do nothing, so that it is not idle
  void LeaveOut(int worker);
  // in this region, so that it is there
  bool Asked(int worker) const { return workers_[size_t(worker)].asked; }

  // something in this region, or has begun to
  bool Computed(int worker) const { return here(worker).computed; }

  double UsualFactor(int worker) const { return workers_[size_t(worker)].factor; }  // over all regions

  // Expected for this region. Only ratios mean something while nothing is Known() of it.
  double BlockNs(int worker) const { return Factor(worker) * known().block_ns; }
  double TakeNs(int worker) const { return Factor(worker) * known().take_ns; }
  double CutNs(int worker) const { return Factor(worker) * known().cut_ns; }
  bool Known() const { return known().seen > 0; }
  // By how much a worker's times for this region have been off of late, relative to what was expected; an
  // average.
  double Spread(int worker) const { return here(worker).spread; }
  // In how long the worker is expected to ask next. One that is late will be as late again.
  double FreeInNs(int worker, int64_t now_ns) const;
  // So many blocks may be risked at once: twice what went as expected, half of what did not.
  int64_t Trusted(int worker) const { return int64_t(here(worker).trusted); }
  // A worker that is found slow gets nothing, and nobody would learn that it is well again. So it is due for
  // a block every now and then, the more seldom the more often that was in vain; and what it gets first after
  // it had nothing is but a block. Not the fastest by plan: its factor is 1, whatever it does.
  bool WasIdle(int worker) const {
    return worker != reference_ && !here(worker).computed && here(worker).idle > 0;
  }
  bool IsDue(int worker) const { return WasIdle(worker) && here(worker).idle >= here(worker).patience; }

 private:
  struct InRegion {  // a worker's
    double factor = 0;
    double spread = 0;
    int seen = 0;
    bool computed = true;  // something, in this run or else the last one
    int idle = 0;          // runs of the region in which it computed nothing, since it was tried
    int patience = 0;      // so many until it is tried
    double trusted = 0;    // blocks at once
  };
  struct Times {  // a region's
    double block_ns = 1, take_ns = 0, cut_ns = 0;
    int seen = 0;      // observations of block_ns
    int seen_few = 0;  // of take_ns
    int seen_cut = 0;  // of cut_ns
    std::vector<InRegion> workers;
  };
  struct Worker {
    double by_plan = 1;        // its factor
    double factor = 1;         // over all regions
    double seen_slowdown = 1;  // with its noise
    double slowdown = 1;       // just now, of the usual; 1 where it may be noise
    double join_ns = 0;        // from a region's begin to its first question
    bool asked = false;        // in this region
    bool tried = false;        // what it has in hand is a trial
    BlockRange range;          // in hand
    int64_t start_ns = 0;
  };

  const Times& known() const { return times_[region_]; }
  const InRegion& here(int worker) const { return known().workers[size_t(worker)]; }
  double Factor(int worker) const { return here(worker).factor * workers_[size_t(worker)].slowdown; }
  double FairShare(int worker) const;
  double OfOne(const BlockRange& range) const;
  int Cuts(const BlockRange& range) const {
    return (range.begin % now_.run != 0) + (range.end % now_.run != 0 && range.end != now_.blocks);
  }
  void Reset(Times& times) const;
  void CountIdle(Times& times);
  void LearnFirst(int worker, double ns);
  void LearnSlowdown(int worker, double ns, double usual);
  void LearnTrial(InRegion& here, const Worker& w, double ratio);
  void LearnTimes(int worker, double surprise, double of_one);
  void Learn(int worker, double ns);

  std::vector<Worker> workers_;
  std::vector<Times> times_;  // by region
  const TakeCost cost_;
  int reference_ = 0;  // the worker whose factor is 1
  size_t count_ = 0;   // workers who take part
  double rate_ = 0;    // of their factors, in this region as it began
  Region now_;
  size_t region_ = 0;
  int64_t begin_ns_ = 0;
};

}  // namespace mete
