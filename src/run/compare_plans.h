// Runs plans in turns on the processors of a session, for benchmarks.
#pragma once

#include <string>
#include <vector>

#include "run/group_times.h"
#include "run/pool_session.h"

namespace mete {

// A plan that ran in turns with others.
struct ComparedPlan {
  std::string name;  // "chosen" for the session's plan; "alone NAME"; or the planner's name
  MadePlan made;
  std::vector<double> us;  // of each round
  // medians over the rounds of what the processors took for the plan's groups; empty if the model that is
  // ready on the home computes all of the plan
  GroupTimes groups = {};
  // the index of the first compared plan of the same work: its own, or that of an earlier plan whose runs
  // count for both
  size_t same_as = 0;
};

// Runs the session's plan in use, each of its processors alone, and the plans of `planners` in turns on
// these inputs. The second run of each turn counts; plans of the same work have one turn. No requests may
// run meanwhile, and the session plans nothing again. Error if a processor fails or has failed.
std::vector<ComparedPlan> ComparePlans(PoolSession& session, const std::vector<std::string>& planners,
                                       const std::vector<Tensor>& inputs, int rounds);

}  // namespace mete
