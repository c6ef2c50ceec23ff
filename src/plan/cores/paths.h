// The search of the planner for cores: how many threads each node gets, so that all of them together take the
// least time.
#pragma once

#include <vector>

#include "plan/cores/predict.h"

namespace mete {

struct Decision {
  int threads = 1;
  int awake = 1;  // threads that are awake when the node begins
};

// One for each node of `costs`; nodes that compute nothing, or are in one piece, have one thread. A run
// begins with all threads awake, as one that follows another does.
std::vector<Decision> BestPath(const Costs& costs, const Prediction& prediction);

// The numbers of threads that are worth it where nobody sleeps, ascending, 1 first: each takes kLeastGain
// less than all before it.
std::vector<int> WorthIt(const Prediction& prediction, size_t node);

}  // namespace mete
