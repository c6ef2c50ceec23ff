// The observed speeds of a policy's workers: how long each takes in each region, in this and earlier runs.
#pragma once

#include <vector>

#include "schedule/policy.h"

namespace mete {

// A worker's time for n blocks is modelled as factor * slowdown * (take_ns + cuts * cut_ns + n * block_ns),
// where `cuts` is the number of ends of its range that lie within a run. The three times belong to the
// region: a worker with few blocks mainly shows take_ns, a worker with many blocks block_ns, and both use
// both. The factor belongs to the worker in that region and is 1 for the fastest worker of the plan; the
// slowdown is the worker's current one.
class Speeds {
 public:
  Speeds(const std::vector<WorkerSpeed>& workers, TakeCost cost);

  void Begin(const Region& region, int64_t now_ns);
  void Start(int worker, const BlockRange& range, int64_t now_ns);  // the worker begins to compute a range
  // The worker asks for blocks, and has finished the range that it started, if any. Returns true if it had
  // started one.
  bool Finish(int worker, int64_t now_ns);
  // The policy leaves the worker out of this region, so the region does not count as idle for it.
  void LeaveOut(int worker);
  // Returns true if the worker has asked for blocks in this region.
  bool Asked(int worker) const { return workers_[size_t(worker)].asked; }

  // Returns true if the worker has computed blocks of this region, or has begun to.
  bool Computed(int worker) const { return here(worker).computed; }

  double UsualFactor(int worker) const { return workers_[size_t(worker)].factor; }  // over all regions

  // The expected times of a worker in this region: per block, per range, and per end of a range within a run.
  // While Known() is false, only their ratios are meaningful.
  double BlockNs(int worker) const { return Factor(worker) * known().block_ns; }
  double TakeNs(int worker) const { return Factor(worker) * known().take_ns; }
  double CutNs(int worker) const { return Factor(worker) * known().cut_ns; }
  bool Known() const { return known().seen > 0; }
  // Returns the recent average deviation of a worker's times in this region, relative to the expected times.
  double Spread(int worker) const { return here(worker).spread; }
  // Returns the expected time until the worker asks next. A worker that is overdue by some time is expected
  // to need that time again.
  double FreeInNs(int worker, int64_t now_ns) const;
  // Returns the most blocks that the worker should get at once: twice as many as it computed in the expected
  // time, half as many as it took much longer for.
  int64_t Trusted(int worker) const { return int64_t(here(worker).trusted); }
  // A worker that was found to be slow gets no blocks, so the policy could not observe that it has become
  // faster. WasIdle() is true for a worker without blocks in the last run: it should get only one block, as a
  // trial. IsDue() is true if the next trial is due; trials become rarer the more of them were in vain. The
  // fastest worker of the plan needs no trials, because its factor is always 1.
  bool WasIdle(int worker) const {
    return worker != reference_ && !here(worker).computed && here(worker).idle > 0;
  }
  bool IsDue(int worker) const { return WasIdle(worker) && here(worker).idle >= here(worker).patience; }

 private:
  struct InRegion {  // the state of a worker in a region
    double factor = 0;
    double spread = 0;
    int seen = 0;          // observations of the factor
    bool computed = true;  // true if it has computed blocks in the last run in which it took part
    int idle = 0;          // runs without blocks since its last trial
    int patience = 0;      // runs without blocks until its next trial
    double trusted = 0;    // the most blocks at once
  };
  struct Times {  // the times of a region
    double block_ns = 1, take_ns = 0, cut_ns = 0;
    int seen = 0;      // observations of block_ns
    int seen_few = 0;  // observations of take_ns
    int seen_cut = 0;  // observations of cut_ns
    std::vector<InRegion> workers;
  };
  struct Worker {
    double by_plan = 1;        // the factor in the plan
    double factor = 1;         // the average factor over all regions
    double seen_slowdown = 1;  // the observed slowdown, including noise
    double slowdown = 1;       // the current slowdown relative to the usual speed; 1 if it may be noise
    double join_ns = 0;        // from the begin of a region until the worker first asks
    bool asked = false;        // true if it has asked in this region
    bool tried = false;        // true if its current range is a trial
    BlockRange range;          // the range that it computes
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
  size_t count_ = 0;   // workers that take part
  double rate_ = 0;    // sum of 1 / factor over them, at the begin of this region
  Region now_;
  size_t region_ = 0;
  int64_t begin_ns_ = 0;
};

}  // namespace mete
