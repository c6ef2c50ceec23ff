#include "schedule/worth.h"

#include <algorithm>

namespace mete {
namespace {

// Guesses, held against simulated networks beside a core that is slow, stopped or disturbed now and then. A trial costs what the worse way
// does, in so many runs; it is repeated the more seldom the more often it was in vain.
constexpr int kTrialRuns = 3, kLeastPatience = 4, kMostPatience = 256;
constexpr int kLeastSeen = 8;  // runs before a worker is doubted: its speed is learned in the first of them
constexpr double kUsualGain = 0.05, kTrialGain = 0.25;  // how much a new time counts
// Of the time with it, for a worker to be left out: a single region does not show what it costs the next one that its inputs lie in other
// caches. Guess.
constexpr double kMuchSooner = 0.9;
constexpr double kMostSurprise = 6;    // a time counts as at most so many times the usual one
constexpr double kMostDifference = 3;  // and the usual time of one way as at most so many times the other's

// The first times count as much as each other.
double GainOf(int seen) { return std::max(kUsualGain, 1.0 / seen); }

}  // namespace

Worth::Worth(const std::vector<WorkerSpeed>& workers) : speeds_(workers), workers_(workers.size()) {}

void Worth::Begin(const Region& region, const std::vector<double>& others_block_ns, int64_t now_ns) {
  End();
  region_ = size_t(region.id), begin_ns_ = now_ns;
  if (regions_.size() <= region_) regions_.resize(region_ + 1);
  std::vector<InRegion>& here = regions_[region_];
  if (region_ == 0 || here.empty()) here.assign(workers_.size(), {.patience = kLeastPatience});
  count_ = region.Workers(workers_.size());
  const auto slower = [](const WorkerSpeed& a, const WorkerSpeed& b) { return a.speed < b.speed; };
  stays_ = int(std::max_element(speeds_.begin(), speeds_.begin() + std::ptrdiff_t(count_), slower) - speeds_.begin());
  bool trial = false;
  for (size_t w = 0; w < count_; ++w) {
    workers_[w] = {others_block_ns[w], 0, now_ns};
    if (int(w) == stays_) here[w].out = false, here[w].trial = 0;
    else Next(here[w], &trial);
  }
}

void Worth::End() {
  int64_t last = 0, next_to_last = 0;  // who was done
  for (size_t w = 0; w < count_; ++w) {
    next_to_last = std::max(next_to_last, std::min(last, workers_[w].done_ns));
    last = std::max(last, workers_[w].done_ns);
  }
  if (region_ == 0 || last <= begin_ns_) return;
  for (size_t w = 0; w < count_; ++w) {
    const Worker& worker = workers_[w];
    if (worker.others_block_ns <= 0) continue;  // the first run, of cold caches and blocks dealt out blindly, says nothing
    InRegion& here = regions_[region_][w];
    here.took = worker.blocks > 0, here.refused = worker.asked && !here.took;
    LearnTime(here, double(last - begin_ns_));
    if (!here.took) continue;
    const double late = worker.done_ns == last ? std::min(double(last - next_to_last), kMostSurprise * here.with.ns) : 0;
    here.gain_ns += GainOf(here.with.seen) * (double(worker.blocks) * worker.others_block_ns - late - here.gain_ns);
  }
}

void Worth::LearnTime(InRegion& here, double ns) {
  Time& usual = here.took ? here.with : here.without;
  const Time& other = here.took ? here.without : here.with;
  if (++usual.seen == 1) usual.ns = ns;
  const double gain = std::max(GainOf(usual.seen), here.trial > 0 ? kTrialGain : 0);
  usual.ns += gain * (std::min(ns, kMostSurprise * usual.ns) - usual.ns);
  if (other.seen > 0) usual.ns = std::min(usual.ns, kMostDifference * other.ns);
}

// One trial at a time in a region.
void Worth::Next(InRegion& worker, bool* trial) {
  ++worker.since;
  if (worker.trial > 0 && --worker.trial == 0) Settle(worker);
  const bool promising = worker.out || (worker.took && worker.with.seen >= kLeastSeen && worker.gain_ns < 0);
  if (!*trial && worker.trial == 0 && promising && worker.since >= worker.patience)
    worker.out = !worker.out, worker.trial = kTrialRuns, worker.since = 0;
  *trial |= worker.trial > 0;
}

void Worth::Settle(InRegion& worker) {
  if (!worker.out && worker.refused) return;  // it got nothing as it is too slow: that is for its speed to say (speeds.h)
  const bool tried = worker.out;
  worker.out = worker.without.ns < (tried ? kMuchSooner : 1) * worker.with.ns;
  worker.patience = worker.out == tried ? kLeastPatience : std::min(2 * worker.patience, kMostPatience);
}

}  // namespace mete
