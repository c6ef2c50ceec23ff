#include "schedule/speeds.h"

#include <algorithm>
#include <cmath>

namespace mete {
namespace {

// The weights of a new observation. These values are guesses: usual speeds change over tens of runs, a
// disturbance within two or three blocks.
constexpr double kUsualGain = 0.1, kSlowdownGain = 0.5;
// An observed slowdown has more weight the longer the observed range took, and is used only if it is larger
// than the usual differences between runs of a region; otherwise the noise of one region would mislead the
// next. These values are guesses.
constexpr double kLongNs = 200e3, kNoDisturbance = 1.25;
// The most by which an observation may exceed the expected time: a preempted thread can take a hundred times
// as long, once.
constexpr double kMostSurprise = 3;
constexpr double kLeastJoinNs = 5e3;  // a guess: a shorter delay is no surprise
// Bounds of the learned values, relative to the plan and to the usual speed, so that a series of bad
// observations does not reinforce itself. These values are guesses.
constexpr double kMostFactor = 100, kLeastSlowdown = 0.5, kMostSlowdown = 8;
constexpr double kLeastBlockNs = 1e-3;  // a guess: above 0, so that rates are finite
constexpr double kFirstSpread = 0.2;    // a guess: the spread before the first observations
constexpr double kAll = 1e15;           // more blocks than any region has
// A range that took this many times the expected time is a disappointment. This value is a guess.
constexpr double kDisappointment = 1.5;
// Runs until a trial. These values are guesses: a worker is tried within some runs, and the trials of a
// hopeless worker cost less than 0.1 %.
constexpr int kLeastPatience = 10, kMostPatience = 2560;
// A trial that takes less than this fraction of the expected time was a success. This value is a guess.
constexpr double kBetter = 0.7;

// Returns the weight of a new observation. The first observations have equal weights.
double GainOf(int seen) { return std::max(kUsualGain, 1.0 / (seen + 2)); }

double Bounded(double ratio) { return std::clamp(ratio, 1 / kMostSurprise, kMostSurprise); }

}  // namespace

Speeds::Speeds(const std::vector<WorkerSpeed>& workers, TakeCost cost)
    : workers_(workers.size()), cost_(cost) {
  for (size_t w = 0; w < workers.size(); ++w)
    if (workers[w].speed > workers[size_t(reference_)].speed) reference_ = int(w);
  for (size_t w = 0; w < workers.size(); ++w)
    workers_[w].factor = workers_[w].by_plan = workers[size_t(reference_)].speed / workers[w].speed;
}

void Speeds::Reset(Times& times) const {
  times.block_ns = 1;
  times.take_ns = times.cut_ns = 0;
  times.seen = times.seen_few = times.seen_cut = 0;
  times.workers.clear();
  for (const Worker& w : workers_)
    times.workers.push_back(
        {.factor = w.factor, .spread = kFirstSpread, .patience = kLeastPatience, .trusted = kAll});
}

void Speeds::Begin(const Region& region, int64_t now_ns) {
  now_ = region;
  region_ = size_t(region.id);
  begin_ns_ = now_ns;
  if (times_.size() <= region_) times_.resize(region_ + 1);
  Times& times = times_[region_];
  if (region_ == 0 || times.workers.empty()) Reset(times);
  count_ = region.Workers(workers_.size());
  CountIdle(times);
  rate_ = 0;
  for (size_t w = 0; w < count_; ++w) rate_ += 1 / times.workers[w].factor;
  for (Worker& w : workers_) {
    w.range = {};
    w.asked = w.tried = false;
  }
}

void Speeds::CountIdle(Times& times) {
  for (size_t i = 0; i < count_; ++i) {
    InRegion& here = times.workers[i];
    Worker& w = workers_[i];
    if (!here.computed) {
      ++here.idle;
      w.seen_slowdown += kUsualGain * (1 - w.seen_slowdown);
      w.slowdown += kUsualGain * (1 - w.slowdown);
    }
    here.computed = false;
  }
}

void Speeds::LeaveOut(int worker) {
  InRegion& here = times_[region_].workers[size_t(worker)];
  here.computed = true;
  here.idle = 0;
}

void Speeds::Start(int worker, const BlockRange& range, int64_t now_ns) {
  Worker& w = workers_[size_t(worker)];
  w.tried = WasIdle(worker);
  w.range = range;
  w.start_ns = now_ns;
  times_[region_].workers[size_t(worker)].computed = true;
}

bool Speeds::Finish(int worker, int64_t now_ns) {
  Worker& w = workers_[size_t(worker)];
  if (!w.asked) {
    const double join =
        std::min(double(now_ns - begin_ns_), kMostSurprise * std::max(w.join_ns, kLeastJoinNs));
    w.asked = true;
    w.join_ns += kUsualGain * (join - w.join_ns);
  }
  if (w.range.size() == 0) return false;
  Learn(worker, double(std::max<int64_t>(now_ns - w.start_ns, 1)));
  w.range = {};
  w.tried = false;
  return true;
}

// Returns the worker's blocks of the region if they were divided only by the factors.
double Speeds::FairShare(int worker) const { return double(now_.blocks) / here(worker).factor / rate_; }

double Speeds::OfOne(const BlockRange& range) const {
  return known().take_ns + Cuts(range) * known().cut_ns + double(range.size()) * known().block_ns;
}

void Speeds::LearnFirst(int worker, double ns) {
  Times& times = times_[region_];
  times.block_ns =
      std::max(ns / double(workers_[size_t(worker)].range.size()) / times.workers[size_t(worker)].factor,
               kLeastBlockNs);
  times.take_ns = times.cut_ns = double(cost_.ns);
  times.seen = 1;
}

void Speeds::LearnSlowdown(int worker, double ns, double usual) {
  Worker& w = workers_[size_t(worker)];
  // If times in this region vary much, the region's times are probably wrong, not the slowdown.
  const double certain = std::max(0.0, 1 - 2 * here(worker).spread);
  const double gain = kSlowdownGain * certain * std::min(1.0, ns / kLongNs),
               bounded = w.slowdown * Bounded(ns / (usual * w.slowdown));
  w.seen_slowdown =
      std::clamp(w.seen_slowdown + gain * (bounded - w.seen_slowdown), kLeastSlowdown, kMostSlowdown);
  w.slowdown = w.seen_slowdown < kNoDisturbance && w.seen_slowdown > 1 / kNoDisturbance ? 1 : w.seen_slowdown;
}

void Speeds::LearnTrial(InRegion& here, const Worker& w, double ratio) {
  here.factor = std::clamp(here.factor * ratio, w.by_plan / kMostFactor, w.by_plan * kMostFactor);
  here.patience = ratio < kBetter ? kLeastPatience : std::min(2 * here.patience, kMostPatience);
  here.idle = 0;
  here.trusted = 1;
}

// Attributes the unexpected part of an observed time to the model's parameters. If the range cuts runs, half
// of it is attributed to cut_ns. Of the rest, that of a range of few blocks is attributed to take_ns, that of
// many blocks to block_ns (for the reference worker) or to the worker's factor (for others). For few blocks
// of a worker other than the reference, whose factor may be wrong, take_ns and the factor get half each.
// `surprise`: the time beyond the usual time, relative to it. `of_one`: the usual time of a worker of factor
// 1.
void Speeds::LearnTimes(int worker, double surprise, double of_one) {
  Times& times = times_[region_];
  InRegion& here = times.workers[size_t(worker)];
  Worker& w = workers_[size_t(worker)];
  const double blocks = double(w.range.size()), more = surprise * of_one, all = of_one + more;
  const int cuts = Cuts(w.range);
  const bool few = 2 * blocks < FairShare(worker);
  const double to_cut = cuts > 0 ? 0.5 : 0, to_take = (1 - to_cut) * (!few                   ? 0
                                                                      : worker == reference_ ? 1
                                                                                             : 0.5);
  const double to_blocks = 1 - to_cut - to_take;
  if (cuts > 0)
    times.cut_ns =
        std::clamp(times.cut_ns + to_cut * GainOf(times.seen_cut++) * more / cuts, 0.0, all / cuts);
  if (few) times.take_ns += to_take * GainOf(times.seen_few++) * more;
  times.take_ns = std::clamp(times.take_ns, 0.0, all);  // taking cannot cost more than the whole time
  if (to_blocks == 0) return;
  if (worker == reference_) {
    const double block_ns = times.block_ns + to_blocks * GainOf(times.seen++) * more / blocks;
    times.block_ns = std::max({kLeastBlockNs, 0.5 * times.block_ns, block_ns});
  } else {
    const double gain = std::max(GainOf(here.seen++), std::min(kSlowdownGain, here.spread));
    here.factor = std::clamp(here.factor * (1 + to_blocks * gain * surprise), w.by_plan / kMostFactor,
                             w.by_plan * kMostFactor);
    w.factor += kUsualGain * kUsualGain * (here.factor - w.factor);
  }
}

void Speeds::Learn(int worker, double ns) {
  Times& times = times_[region_];
  if (times.seen == 0) return LearnFirst(worker, ns);
  InRegion& here = times.workers[size_t(worker)];
  const Worker& w = workers_[size_t(worker)];
  const double of_one = OfOne(w.range), usual = here.factor * of_one;
  if (w.tried) return LearnTrial(here, w, ns / usual);
  here.idle = 0;
  here.patience = kLeastPatience;
  const double ratio = Bounded(ns / (usual * w.slowdown)), blocks = double(w.range.size());
  here.trusted = ratio > kDisappointment ? std::max(1.0, blocks / 2)
                                         : std::min(kAll, std::max(here.trusted, 2 * blocks));
  here.spread += kUsualGain * (std::abs(ratio - 1) - here.spread);
  LearnSlowdown(worker, ns, usual);
  LearnTimes(worker, Bounded(ns / usual) - 1, of_one);
}

double Speeds::FreeInNs(int worker, int64_t now_ns) const {
  const Worker& w = workers_[size_t(worker)];
  if (!Known()) return 0;
  const double since_begin = double(now_ns - begin_ns_);
  if (!w.asked) return std::max(0.0, w.join_ns - since_begin);
  if (w.range.size() == 0) return 0;
  const double left = Factor(worker) * OfOne(w.range) - double(now_ns - w.start_ns);
  return std::abs(left);
}

}  // namespace mete
