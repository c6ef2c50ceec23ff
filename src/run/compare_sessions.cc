#include "run/compare_sessions.h"

#include "base/error.h"
#include "run/time_graph.h"
#include "run/turns.h"

namespace mete {

std::vector<double> TimeSessions(const std::vector<PoolSession*>& sessions, const CancelToken* cancel) {
  if (sessions.empty()) return {};
  std::vector<HeldPlans> held;
  held.reserve(sessions.size());
  for (PoolSession* session : sessions) held.push_back(session->HoldPlans());
  const Graph& graph = held[0].runner.graph();
  const std::vector<Tensor> inputs = MadeUpInputs(graph, InputsOf(graph, held[0].chosen.plan));
  return MediansInTurns(held.size(), [&](size_t i) {
    if (cancel && cancel->cancelled())
      throw Error(Code::kCancelled, "[processors] interrupted while sessions ran in turns");
    // The first run finds what the others left in the caches, and threads of theirs that still look for work.
    (void)held[i].runner.RunOnce(held[i].deployed.get(), inputs);
    return held[i].runner.RunOnce(held[i].deployed.get(), inputs);
  });
}

}  // namespace mete
