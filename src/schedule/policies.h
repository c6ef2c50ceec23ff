// The constructors of the policies. Only MakePolicy calls them.
#pragma once

#include "schedule/policy.h"

namespace mete {

// Gives each worker one contiguous slice, in proportion to its share.
std::unique_ptr<Policy> MakeFixed(const std::vector<double>& shares);
std::unique_ptr<Policy> MakeAsymo(const std::vector<WorkerSpeed>& workers, TakeCost cost);
std::unique_ptr<Policy> MakeSani(const std::vector<WorkerSpeed>& workers);
std::unique_ptr<Policy> MakeAdaptive(const std::vector<WorkerSpeed>& workers, TakeCost cost);

}  // namespace mete
