// What the processors of a plan took for its groups, in one run or as medians of several.
#pragma once

#include <vector>

#include "run/program_run.h"

namespace mete {

// By processor of the plan and by group; a list may end before the last group.
using GroupTimes = std::vector<std::vector<StageTimes>>;

// Returns the medians of runs of one plan; at least one run.
GroupTimes MediansOf(const std::vector<GroupTimes>& runs);

}  // namespace mete
