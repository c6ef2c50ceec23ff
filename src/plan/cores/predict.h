// What each step takes on each number of threads, asleep or awake.
#pragma once

#include <vector>

#include "costs/costs.h"
#include "plan/cores/makespan.h"

namespace mete {

// A thread of the plan, as the prediction sees it.
struct PlannedThread {
  int cluster = 0;
  double speed = 1;  // that is emulated: of what the core could do
};

class Prediction {
 public:
  // Keeps references to both.
  Prediction(const Costs& costs, const std::vector<PlannedThread>& threads);

  int threads() const { return int(threads_.size()); }
  // The numbers of threads that are weighed: each up to 16, then in steps of an eighth, and all; ascending.
  // Guess: on large machines nothing turns on one core more, and a plan takes milliseconds.
  const std::vector<int>& Counts() const { return counts_; }
  // of each cluster, of the first `count` threads
  const std::vector<int>& CoresOf(int count) const { return cores_[size_t(count)]; }
  int64_t Blocks(size_t node, int count) const {
    return TimesOn(costs_, costs_.nodes[node], CoresOf(count)).blocks;
  }

  // A node that computes, on the first `count` threads, all but the first `awake` of which sleep; the barrier
  // is part of the time.
  Dealt On(size_t node, int count, int awake) const;
  double Ns(size_t node, int count, int awake) const { return On(node, count, awake).done_ns; }

 private:
  const Costs& costs_;
  const std::vector<PlannedThread>& threads_;
  std::vector<std::vector<int>> cores_;  // by number of threads
  std::vector<int> counts_;
};

}  // namespace mete
