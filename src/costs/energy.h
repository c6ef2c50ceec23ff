// With which cores, at which frequencies, a model takes the least energy: a choice by its data-reuse rates on
// a machine's energy curves.
//
// Each node's operations for a byte give its time and watts on every cluster (energy_curves.h). Clusters that
// share a node add up:
//
//     time = max(1 / sum over clusters of 1 / time there, bytes / what the memory moves) + the hand-over,
//     where cores share
//     joules = time * sum of the clusters' watts
//
// So it is taken for granted that dividing a node costs nothing else, and that no clock has to come down for
// heat. Joules are those beyond what the machine takes without work: that goes on whether a model runs or
// not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "costs/energy_curves.h"
#include "graph/graph.h"
#include "mete/engine.h"

namespace mete {

struct Objective {
  double most_ms = 0;  // the least energy within so much time; 0: within any
};

// "energy", or "latency=30ms" (or us, or s). Error that names `where` for anything else.
Objective ParseObjective(std::string_view text, const std::string& where);

struct NodeWork {
  int64_t flops = 0, bytes = 0;
};

struct ModelWork {
  std::vector<NodeWork> nodes;  // those that move bytes
  int unknown = 0;              // of shapes that only the data tell: counted as nothing
  int int8 = 0;                 // of 8-bit numbers: counted at the speed of f32, which is slower than theirs
};
ModelWork WorkOf(const Graph& graph);

struct ClusterSetting {
  int64_t khz = 0;
  int cores = 0;  // 0: the cluster does not take part, and its frequency is nobody's concern
};

struct EnergyCandidate {
  std::vector<ClusterSetting> clusters;
  double ms = 0, joules = 0;
};

struct EnergyChoice {
  EnergyCandidate best;
  EnergyCandidate fastest;                  // of all, to compare with
  std::vector<EnergyCandidate> runners_up;  // of other sets of cores the best each, the best first
  bool meets = true;                        // the time that was asked for
  std::string reason;
};

struct EnergySearch {
  // one for each cluster: only the frequency that is nearest to it; empty: all
  std::vector<int64_t> at_khz = {};
  const CancelToken* cancel = nullptr;                   // asked every few ms
  std::function<void(int done, int all)> progress = {};  // as often, of the ways
};

// Tries every frequency and number of cores that the curves have. Where nothing meets the time, the fastest
// is best. Error where there is nothing to compute, or there are too many ways; CANCELLED.
EnergyChoice ChooseEnergy(const EnergyCurves& curves, const ModelWork& work, const Objective& objective,
                          const EnergySearch& search = {});

// "prime 1 core at 1714 MHz + middle 2 cores at 1028 MHz"
std::string ToText(const EnergyCurves& curves, const EnergyCandidate& candidate);

}  // namespace mete
