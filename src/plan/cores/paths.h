// The search of the planner for cores: it chooses the number of threads of each node so that the sum of all
// times is minimal.
#pragma once

#include <vector>

#include "plan/cores/predict.h"

namespace mete {

struct Decision {
  int threads = 1;
  int awake = 1;  // threads that are awake when the node begins
};

// Returns one decision per node of `costs`. Nodes that compute nothing or have one piece get one thread. All
// threads are awake at the beginning of a run, as they are right after another run.
std::vector<Decision> BestPath(const Costs& costs, const Prediction& prediction);

// Returns the numbers of threads that are worth using if no thread sleeps, ascending from 1: each number
// takes at least kLeastGain less time than all smaller ones.
std::vector<int> WorthIt(const Prediction& prediction, size_t node);

}  // namespace mete
