// Tasks that wait for each other and share resources, in virtual time. A resource does one task at a time and
// is never idle while one of its tasks is ready: of several the one of the lowest rank, then the one that was
// ready first.
#pragma once

#include <vector>

namespace mete {

struct Task {
  int resource = -1;  // -1: takes none, and any number of such tasks go on at once
  double us = 0;
  int rank = 0;           // the lower comes first
  double next_us = 0;     // after it has begun: when those that wait for it may begin
  std::vector<int> next;  // they
};

struct TaskTimes {
  double begin_us = 0, end_us = 0;
};

// Tasks that wait for no other begin at 0. Error if tasks wait in a circle.
std::vector<TaskTimes> RunTasks(const std::vector<Task>& tasks, int resources);

}  // namespace mete
