// Chooses the cores and frequencies with which a model takes the least energy, by the data-reuse rates of its
// nodes and a machine's energy curves.
//
// A node's operations per byte give its time and watts on every cluster (energy_curves.h). If several
// clusters share a node, their rates and their watts add up:
//
//     time = max(1 / sum over clusters of 1 / time there, bytes / memory bandwidth) + hand-over between cores
//     joules = time * sum of the clusters' watts
//
// The model assumes that dividing a node costs nothing else, and that heat lowers no clock. The joules do not
// include the machine's power without work, which it takes whether a model runs or not.
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
  double most_ms = 0;  // upper limit of the time, within which the energy is minimized; 0: no limit
};

// Parses "energy" or "latency=30ms" (the units are us, ms, s). Throws Error with `where` for any other text.
Objective ParseObjective(std::string_view text, const std::string& where);

struct NodeWork {
  int64_t flops = 0, bytes = 0;
};

struct ModelWork {
  std::vector<NodeWork> nodes;  // the nodes that move bytes
  int unknown = 0;              // number of nodes whose shape depends on the data: their work counts as 0
  int int8 = 0;                 // number of 8-bit nodes: they count at the speed of f32, which is slower
};
ModelWork WorkOf(const Graph& graph);

struct ClusterSetting {
  int64_t khz = 0;
  int cores = 0;  // 0: the cluster does not take part, and its frequency has no meaning
};

struct EnergyCandidate {
  std::vector<ClusterSetting> clusters;
  double ms = 0, joules = 0;
};

struct EnergyChoice {
  EnergyCandidate best;
  EnergyCandidate fastest;                  // the fastest of all candidates, for comparison
  std::vector<EnergyCandidate> runners_up;  // the best candidate of each other set of cores, the best first
  bool meets = true;                        // `best` meets the objective's time
  std::string reason;
};

struct EnergySearch {
  // by cluster: only the frequency of the curves that is nearest to this one is tried; empty: all frequencies
  std::vector<int64_t> at_khz = {};
  const CancelToken* cancel = nullptr;                   // checked every few ms
  std::function<void(int done, int all)> progress = {};  // called every few ms, with the tried combinations
};

// Tries all combinations of the frequencies and numbers of cores in the curves. If none meets the time, the
// fastest is the best. Error if there is nothing to compute or there are too many combinations; CANCELLED.
EnergyChoice ChooseEnergy(const EnergyCurves& curves, const ModelWork& work, const Objective& objective,
                          const EnergySearch& search = {});

// Returns for example "prime 1 core at 1714 MHz + middle 2 cores at 1028 MHz".
std::string ToText(const EnergyCurves& curves, const EnergyCandidate& candidate);

}  // namespace mete
