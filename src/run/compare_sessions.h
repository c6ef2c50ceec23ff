// Runs sessions in turns, to choose one.
#pragma once

#include <vector>

#include "mete/engine.h"
#include "run/pool_session.h"

namespace mete {

// Returns the microseconds of a request on each session by its plan in use, on made-up inputs, in turns
// (run/turns.h). The sessions are of one graph, no requests run on them, and nothing is planned again
// meanwhile. `cancel` may be null. Error CANCELLED, and ProcessorError.
std::vector<double> TimeSessions(const std::vector<PoolSession*>& sessions, const CancelToken* cancel);

}  // namespace mete
