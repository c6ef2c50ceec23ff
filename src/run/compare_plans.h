// Runs plans in turns on the processors of a session, for benchmarks.
#pragma once

#include <string>
#include <vector>

#include "run/pool_session.h"

namespace mete {

// A plan that ran in turns with others.
struct ComparedPlan {
  std::string name;  // "chosen", of the session; "alone NAME"; or of the planner
  MadePlan made;
  std::vector<double> us;  // of each round
  // which of those compared has the processors do the same: itself, or an earlier one whose runs count for
  // both
  size_t same_as = 0;
};

// Runs the session's plan in use, each of its processors alone, and what `planners` plan, in turns on these
// inputs. The second run of each turn counts; plans that are the same have one turn. No requests may run.
// Nothing is planned again meanwhile. Error where a processor fails.
std::vector<ComparedPlan> ComparePlans(PoolSession& session, const std::vector<std::string>& planners,
                                       const std::vector<Tensor>& inputs, int rounds);

}  // namespace mete
