#include "schedule/worth.h"

#include <algorithm>

namespace mete {
namespace {

constexpr int kLeastSeen = 8;  // runs before the first trial: the policy learns speeds in the first runs
// A worker is left out if the region then takes less than 0.9 of the time with it. This value is a guess: a
// single region does not show the cost for the next region of inputs in other caches. `doubts` is false
// because the times of short regions vary so much that with it three models took 0.5 to 1 % longer.
constexpr TwoWays::Rule kRule{.much_sooner = 0.9,
                              .trial_runs = 3,
                              .settling_runs = 0,
                              .least_patience = 4,
                              .usual_gain = 0.05,
                              .doubts = false};

}  // namespace

Worth::Worth(const std::vector<WorkerSpeed>& workers) : speeds_(workers), workers_(workers.size()) {}

void Worth::Begin(const Region& region, const std::vector<double>& others_block_ns, int64_t now_ns) {
  End();
  region_ = size_t(region.id);
  begin_ns_ = now_ns;
  if (regions_.size() <= region_) regions_.resize(region_ + 1);
  std::vector<InRegion>& here = regions_[region_];
  if (region_ == 0 || here.empty()) here.assign(workers_.size(), {.ways = TwoWays(kRule)});
  count_ = region.Workers(workers_.size());
  const auto slower = [](const WorkerSpeed& a, const WorkerSpeed& b) { return a.speed < b.speed; };
  stays_ = int(std::max_element(speeds_.begin(), speeds_.begin() + std::ptrdiff_t(count_), slower) -
               speeds_.begin());
  bool trial = false;
  for (size_t w = 0; w < count_; ++w) {
    workers_[w] = {others_block_ns[w], 0, now_ns};
    if (int(w) == stays_) here[w].ways.UseUsual();
    else Next(here[w], &trial);
  }
}

void Worth::End() {
  int64_t last = 0, next_to_last = 0;  // the times at which the last two workers were done
  for (size_t w = 0; w < count_; ++w) {
    next_to_last = std::max(next_to_last, std::min(last, workers_[w].done_ns));
    last = std::max(last, workers_[w].done_ns);
  }
  if (region_ == 0 || last <= begin_ns_) return;
  for (size_t w = 0; w < count_; ++w) {
    const Worker& worker = workers_[w];
    // The first run is ignored: caches are cold, and blocks were divided without known times.
    if (worker.others_block_ns <= 0) continue;
    InRegion& here = regions_[region_][w];
    here.took = worker.blocks > 0;
    here.refused = worker.asked && !here.took;
    here.ways.Learn(!here.took, double(last - begin_ns_));
    if (!here.took) continue;
    const double late =
        worker.done_ns == last ? TwoWays::Bounded(double(last - next_to_last), here.ways.usual_ns()) : 0;
    here.gain_ns +=
        here.ways.usual_gain() * (double(worker.blocks) * worker.others_block_ns - late - here.gain_ns);
  }
}

// Only one worker of a region is on trial at a time. A trial with a worker that got no blocks, because it is
// too slow, is void: such a worker is judged by its speed (speeds.h).
void Worth::Next(InRegion& worker, bool* trial) {
  const bool promising =
      worker.ways.other() || (worker.took && worker.ways.seen() >= kLeastSeen && worker.gain_ns < 0);
  worker.ways.Next({.promising = promising && !*trial, .void_trial = !worker.ways.other() && worker.refused});
  *trial |= worker.ways.trying();
}

}  // namespace mete
