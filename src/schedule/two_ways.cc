#include "schedule/two_ways.h"

#include <algorithm>

namespace mete {
namespace {

// These values are guesses, which were checked on simulated networks beside a core that is slow, stopped or
// disturbed now and then. A trial of the worse way costs time, so trials become rarer the more of them were
// in vain.
constexpr int kMostPatience = 256;
constexpr double kTrialGain = 0.25;    // least weight of a new time in a trial
constexpr int kManySeen = 1 << 20;     // larger counts are not needed
constexpr double kMostSurprise = 6;    // a time is bounded to this multiple of the average
constexpr double kMostDifference = 3;  // the average of one way is bounded to this multiple of the other's

}  // namespace

TwoWays::TwoWays(const Rule& rule) : rule_(rule), patience_(rule.least_patience) {}

double TwoWays::GainOf(int seen) const { return std::max(rule_.usual_gain, 1.0 / seen); }

double TwoWays::Bounded(double ns, double usual_ns) { return std::min(ns, kMostSurprise * usual_ns); }

void TwoWays::Learn(bool other, double ns) {
  if (settling_ > 0) return;
  Time& usual = other ? other_time_ : usual_time_;
  const Time& elsewhere = other ? usual_time_ : other_time_;
  usual.seen = std::min(usual.seen + 1, kManySeen);
  if (usual.seen == 1) usual.ns = ns;
  const double gain = std::max(GainOf(usual.seen), trying() ? kTrialGain : 0);
  usual.ns += gain * (Bounded(ns, usual.ns) - usual.ns);
  if (elsewhere.seen > 0) usual.ns = std::min(usual.ns, kMostDifference * elsewhere.ns);
}

void TwoWays::Next(const Outlook& outlook) {
  since_ = std::min(since_ + 1, kMostPatience);
  settling_ = std::max(settling_ - 1, 0);
  if (trying() && --trial_ == 0 && !outlook.void_trial) Judge();
  const bool doubt = rule_.doubts && OtherIsSooner(other_) != other_;
  const int patience = doubt ? rule_.least_patience : patience_;
  if (trying() || !outlook.promising || since_ < patience) return;
  other_ = !other_;
  trial_ = rule_.trial_runs;
  settling_ = rule_.settling_runs;
  since_ = 0;
}

bool TwoWays::OtherIsSooner(bool kept_other) const {
  return other_time_.seen > 0 && other_time_.ns < (kept_other ? 1 : rule_.much_sooner) * usual_time_.ns;
}

void TwoWays::Judge() {
  const bool tried = other_;
  if (other_time_.seen == 0) return UseUsual();  // the trial gave no times
  other_ = OtherIsSooner(!tried);
  patience_ = other_ == tried ? rule_.least_patience : std::min(2 * patience_, kMostPatience);
  if (other_ != tried) settling_ = rule_.settling_runs;
}

}  // namespace mete
