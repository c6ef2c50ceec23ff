#include "run/group_times.h"

#include "run/plan_runner.h"

namespace mete {
namespace {

double MedianUs(const std::vector<GroupTimes>& runs, size_t processor, size_t group, double StageTimes::*of) {
  std::vector<double> us;
  for (const GroupTimes& times : runs)
    if (processor < times.size() && group < times[processor].size())
      us.push_back(times[processor][group].*of);
  return MedianOf(std::move(us));
}

}  // namespace

GroupTimes MediansOf(const std::vector<GroupTimes>& runs) {
  GroupTimes medians = runs.back();
  for (size_t p = 0; p < medians.size(); ++p)
    for (size_t g = 0; g < medians[p].size(); ++g)
      medians[p][g] = {MedianUs(runs, p, g, &StageTimes::wait_us),
                       MedianUs(runs, p, g, &StageTimes::compute_us)};
  return medians;
}

}  // namespace mete
