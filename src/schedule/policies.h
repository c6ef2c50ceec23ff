// The policies' constructors, for MakePolicy alone.
#pragma once

#include "schedule/policy.h"

namespace mete {

// one contiguous slice a worker, in proportion
std::unique_ptr<Policy> MakeFixed(std::vector<double> shares);
std::unique_ptr<Policy> MakeAsymo(std::vector<WorkerSpeed> workers, TakeCost cost);
std::unique_ptr<Policy> MakeSani(std::vector<WorkerSpeed> workers);
std::unique_ptr<Policy> MakeAdaptive(std::vector<WorkerSpeed> workers, TakeCost cost);

}  // namespace mete
