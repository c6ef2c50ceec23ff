// The predicted time of each step on each number of threads, some of which may sleep.
#pragma once

#include <vector>

#include "costs/costs.h"
#include "plan/cores/makespan.h"

namespace mete {

// A thread of the plan.
struct PlannedThread {
  int cluster = 0;
  double speed = 1;  // emulated speed as a share of the core's own
};

class Prediction {
 public:
  // Keeps references to both.
  Prediction(const Costs& costs, const std::vector<PlannedThread>& threads);

  int threads() const { return int(threads_.size()); }
  // Returns the numbers of threads to consider, ascending: each number up to 16, then steps of an eighth, and
  // all threads. The numbers are a guess: on large machines one core more makes little difference, and with
  // them a plan takes milliseconds.
  const std::vector<int>& Counts() const { return counts_; }
  // by cluster: how many of the first `count` threads are on it
  const std::vector<int>& CoresOf(int count) const { return cores_[size_t(count)]; }
  int64_t Blocks(size_t node, int count) const {
    return TimesOn(costs_, costs_.nodes[node], CoresOf(count)).blocks;
  }

  // Predicts a node that computes, on the first `count` threads, of which all but the first `awake` sleep.
  // The time includes the barrier.
  Dealt On(size_t node, int count, int awake) const;
  double Ns(size_t node, int count, int awake) const { return On(node, count, awake).done_ns; }

 private:
  const Costs& costs_;
  const std::vector<PlannedThread>& threads_;
  std::vector<std::vector<int>> cores_;  // by number of threads
  std::vector<int> counts_;
};

}  // namespace mete
