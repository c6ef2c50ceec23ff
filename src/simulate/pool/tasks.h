// Runs tasks that wait for each other and share resources, in virtual time. A resource does one task at a
// time and is never idle while one of its tasks is ready. Of several ready tasks it does the one of the
// lowest rank first, and of equal ranks the one that was ready first.
#pragma once

#include <vector>

namespace mete {

struct Task {
  int resource = -1;  // -1: the task takes none; any number of such tasks run at once
  double us = 0;
  int rank = 0;           // the lower rank comes first
  double next_us = 0;     // the time after its begin at which the tasks of `next` may begin
  std::vector<int> next;  // the tasks that wait for this one
};

struct TaskTimes {
  double begin_us = 0, end_us = 0;
};

// Resources of one memory slow each other (CoRun, costs/pool.h): while another one of them does a task of
// another rank, a task takes `factor` times as long. What tasks of one rank do to each other is in their
// times.
struct SlowedResource {
  int memory = -1;  // -1: none slows it
  double factor = 1;
};

// Runs the tasks. Those that wait for no other begin at 0. `slowed` has an element for each resource, or none
// at all. The tasks that wait for one of a resource that may be slowed begin when it has ended, whatever its
// next_us is. Error if tasks wait in a circle.
std::vector<TaskTimes> RunTasks(const std::vector<Task>& tasks, int resources,
                                const std::vector<SlowedResource>& slowed = {});

}  // namespace mete
