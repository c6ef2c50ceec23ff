#include "simulate/counters.h"

#include <map>
#include <set>

namespace mete {

std::vector<TraceCounter> CountersOf(const Simulation& simulation, const MachineFile& file) {
  std::vector<TraceCounter> counters;
  std::set<int> clusters;
  for (const SimulatedCore& core : simulation.cores) clusters.insert(core.cluster);
  double watts = 0, most = 0;
  for (const int c : clusters) {
    const ClusterFigures& figures = file.clusters[size_t(c)];
    counters.push_back({"clock of " + file.machine.clusters[size_t(c)].name,
                        "MHz",
                        {{0, figures.max_mhz.value}, {simulation.trace.total_ns, figures.max_mhz.value}}});
    watts += figures.idle_w.value;
    most += figures.idle_w.value + figures.active_w.value;
  }
  if (most <= 0) return counters;
  std::map<int64_t, double> changes;  // in watts, by nanoseconds
  changes[0] = watts;
  for (const TraceEvent& event : simulation.trace.events) {
    const ClusterFigures& figures = file.clusters[size_t(simulation.cores[size_t(event.worker)].cluster)];
    const double active = event.waits() ? -figures.active_w.value : figures.active_w.value;
    changes[event.start_ns] += active;
    changes[event.end_ns] -= active;
  }
  TraceCounter power{"power", "W", {}};
  watts = 0;
  for (const auto& [ns, change] : changes) power.points.push_back({ns, watts += change});
  counters.push_back(std::move(power));
  return counters;
}

}  // namespace mete
