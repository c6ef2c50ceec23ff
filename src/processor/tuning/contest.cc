#include "processor/tuning/contest.h"

#include <algorithm>
#include <numeric>

namespace mete {
namespace {

// This value is a guess: the least of four is within some percent on a quiet machine.
constexpr int kLeastRounds = 4, kMostRounds = 10;
// Microseconds per trial. This value is a guess: short calls are repeated more often, because they vary more.
constexpr double kEnoughUs = 1000;
constexpr double kMayWin = 1.2;  // guess: more than the usual noise of the least of four

}  // namespace

Turns::Turns(std::vector<const Trial*> trials)
    : trials_(std::move(trials)), least_(trials_.size(), std::numeric_limits<double>::infinity()) {}

// The fastest trial is never hopeless, so that each round has a call.
bool Turns::Hopeless(size_t trial) const { return round_ >= kLeastRounds && least_[trial] > kMayWin * best_; }

void Turns::Step() {
  const double us = trials_[next_]->call_us();
  least_[next_] = std::min(least_[next_], us);
  best_ = std::min(best_, us);
  all_ += us;
  do {
    if (++next_ < trials_.size()) continue;
    next_ = 0;
    ++round_;
    done_ = round_ >= kLeastRounds && (round_ >= kMostRounds || all_ >= kEnoughUs * double(trials_.size()));
  } while (!done_ && Hopeless(next_));
}

void Turns::Resume() {
  if (trials_.size() < 2) return;
  size_t before = next_;
  do before = (before + trials_.size() - 1) % trials_.size();
  while (before != next_ && Hopeless(before));
  trials_[before]->call_us();
}

bool Contest::GroupIsFull() const {
  return us_.size() + group_.size() == candidates_.size() || group_bytes_ >= kTogether;
}

void Contest::Begin(const std::vector<size_t>& group) {
  std::vector<const Trial*> trials;
  for (const size_t trial : group) trials.push_back(&group_[trial]);
  measuring_ = group;
  turns_.clear();
  turns_.emplace_back(std::move(trials));
}

void Contest::Step() {
  if (turns_.empty()) {
    group_.push_back(make_(candidates_[us_.size() + group_.size()]));
    group_bytes_ += group_.back().bytes;
    if (!GroupIsFull()) return;
    std::vector<size_t> all(group_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    Begin(all);
    return;
  }
  turns_[0].Step();
  if (turns_[0].done()) EndTurns();
}

void Contest::EndTurns() {
  const std::vector<double>& least = turns_[0].least_us();
  group_us_.resize(group_.size(), std::numeric_limits<double>::infinity());
  for (size_t i = 0; i < least.size(); ++i)
    group_us_[measuring_[i]] = std::min(group_us_[measuring_[i]], least[i]);
  const auto best = size_t(std::min_element(group_us_.begin(), group_us_.end()) - group_us_.begin());
  if (best != confirmed_ && best != 0 && ++confirmations_ < group_.size()) {
    confirmed_ = best;
    return Begin({0, best});
  }
  us_.insert(us_.end(), group_us_.begin(), group_us_.end());
  turns_.clear();
  group_.clear();
  group_us_.clear();
  group_bytes_ = 0;
  confirmed_ = confirmations_ = 0;
}

void Contest::Resume() {
  if (!turns_.empty()) turns_[0].Resume();
}

}  // namespace mete
