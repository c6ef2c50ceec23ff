#include "schedule/speeds.h"

#include <algorithm>
#include <cmath>

namespace mete {
namespace {

// How much a new observation counts. Guesses: what is usual changes over tens of runs, a disturbance within two or three blocks.
constexpr double kUsualGain = 0.1, kSlowdownGain = 0.5;
// A disturbance is believed the sooner the longer what was observed took, and only where it is larger than what regions differ by from run
// to run: else the noise of one misleads the next. Guesses.
constexpr double kLongNs = 200e3, kNoDisturbance = 1.25;
// An observation counts as at most so many times what was expected: a preempted thread takes a hundred times as long, once.
constexpr double kMostSurprise = 3;
// What is learned of a worker stays within these bounds of the plan, or of what is usual, so that no run of bad luck feeds on itself.
constexpr double kMostFactor = 8, kLeastSlowdown = 0.5, kMostSlowdown = 8;  // guesses
constexpr double kForgetGain = 0.05;  // guess: once in some tens of runs a slow worker is tried again
constexpr double kFirstSpread = 0.2;  // guess, until there were some observations

// The first observations count as much as each other.
double GainOf(int seen) { return std::max(kUsualGain, 1.0 / (seen + 2)); }

}  // namespace

Speeds::Speeds(const std::vector<WorkerSpeed>& workers, TakeCost cost) : workers_(workers.size()), cost_(cost) {
  for (size_t w = 0; w < workers.size(); ++w)
    if (workers[w].speed > workers[size_t(reference_)].speed) reference_ = int(w);
  for (size_t w = 0; w < workers.size(); ++w) workers_[w].factor = workers_[w].by_plan = workers[size_t(reference_)].speed / workers[w].speed;
}

void Speeds::Begin(const Region& region, int64_t now_ns) {
  now_ = region, region_ = size_t(region.id), begin_ns_ = now_ns;
  if (times_.size() <= region_) times_.resize(region_ + 1);
  Times& times = times_[region_];
  if (region_ == 0) times = {};
  if (times.workers.empty())
    for (const Worker& w : workers_) times.workers.push_back({w.factor, kFirstSpread});
  Forget(times);
  for (Worker& w : workers_) w.range = {}, w.asked = false;
}

// Of a worker that gets nothing because it was found slow, nobody would learn that it is not any more.
void Speeds::Forget(Times& times) {
  for (size_t i = 0; i < workers_.size(); ++i) {
    InRegion& here = times.workers[i];
    Worker& w = workers_[i];
    if (!here.computed) {
      here.factor += kForgetGain * (w.factor - here.factor);
      w.factor += kForgetGain * (w.by_plan - w.factor);
      w.seen_slowdown += kUsualGain * (1 - w.seen_slowdown);
      w.slowdown += kUsualGain * (1 - w.slowdown);
      times.take_ns *= 1 - kForgetGain;
    }
    here.computed = false;
  }
}

void Speeds::Start(int worker, const BlockRange& range, int64_t now_ns) {
  workers_[size_t(worker)].range = range;
  workers_[size_t(worker)].start_ns = now_ns;
}

void Speeds::Finish(int worker, int64_t now_ns) {
  Worker& w = workers_[size_t(worker)];
  if (!w.asked) w.asked = true, w.join_ns += kUsualGain * (double(now_ns - begin_ns_) - w.join_ns);
  if (w.range.size() == 0) return;
  Learn(worker, double(std::max<int64_t>(now_ns - w.start_ns, 1)));
  w.range = {};
}

// Blocks of the region, were they dealt out by the factors alone.
double Speeds::FairShare(int worker) const {
  double rate = 0;
  for (const InRegion& w : known().workers) rate += 1 / w.factor;
  return double(now_.blocks) / known().workers[size_t(worker)].factor / rate;
}

// What is unexpected of few blocks is put down to taking them; of many to the blocks, or to the worker's factor; and half and half where
// runs were cut.
void Speeds::Learn(int worker, double ns) {
  Times& times = times_[region_];
  InRegion& here = times.workers[size_t(worker)];
  Worker& w = workers_[size_t(worker)];
  here.computed = true;
  const double blocks = double(w.range.size()), takes = TakesOf(w);
  if (times.seen == 0) {
    times.block_ns = ns / blocks / here.factor, times.take_ns = double(cost_.ns), times.seen = 1;
    return;
  }
  const double of_one = takes * times.take_ns + blocks * times.block_ns, usual = here.factor * of_one, expected = usual * w.slowdown;
  const double bounded = std::clamp(ns, expected / kMostSurprise, expected * kMostSurprise);
  here.spread += kUsualGain * (std::abs(bounded / expected - 1) - here.spread);
  const double gain = kSlowdownGain * std::min(1.0, ns / kLongNs);
  w.seen_slowdown = std::clamp(w.seen_slowdown + gain * (bounded / usual - w.seen_slowdown), kLeastSlowdown, kMostSlowdown);
  w.slowdown = w.seen_slowdown < kNoDisturbance && w.seen_slowdown > 1 / kNoDisturbance ? 1 : w.seen_slowdown;
  const double surprise = std::clamp(ns / usual, 1 / kMostSurprise, kMostSurprise) - 1;
  const bool few = 2 * blocks < FairShare(worker);
  const double to_take = few ? 1 : takes > 1 ? 0.5 : 0, to_blocks = 1 - to_take;
  if (to_take > 0)
    times.take_ns = std::max(0.0, times.take_ns + to_take * GainOf(times.seen_few++) * surprise * of_one / takes);
  if (few) return;
  if (worker == reference_) {
    times.block_ns = std::max(0.5 * times.block_ns, times.block_ns + to_blocks * GainOf(times.seen++) * surprise * of_one / blocks);
  } else {
    const double factor = here.factor * (1 + to_blocks * GainOf(here.seen++) * surprise);
    here.factor = std::clamp(factor, w.by_plan / kMostFactor, w.by_plan * kMostFactor);
    w.factor += kForgetGain * (here.factor - w.factor);
  }
}

double Speeds::FreeAtNs(int worker, int64_t now_ns) const {
  const Worker& w = workers_[size_t(worker)];
  if (!Known()) return double(now_ns);
  double due = double(now_ns);
  if (!w.asked) due = double(begin_ns_) + w.join_ns;
  else if (w.range.size() > 0) due = double(w.start_ns) + TakesOf(w) * TakeNs(worker) + double(w.range.size()) * BlockNs(worker);
  const double late = double(now_ns) - due;
  return w.asked && w.range.size() > 0 && late > 0 ? double(now_ns) + late : std::max(due, double(now_ns));
}

}  // namespace mete
