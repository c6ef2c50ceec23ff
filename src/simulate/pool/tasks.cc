#include "simulate/pool/tasks.h"

#include <algorithm>
#include <queue>
#include <set>
#include <tuple>

#include "base/error.h"

namespace mete {
namespace {

class TaskRunner {
 public:
  TaskRunner(const std::vector<Task>& tasks, int resources)
      : tasks_(tasks),
        times_(tasks.size()),
        waits_(tasks.size(), 0),
        ready_us_(tasks.size(), 0),
        ready_(size_t(resources)),
        busy_(size_t(resources), false) {}

  std::vector<TaskTimes> Do() {
    for (const Task& task : tasks_)
      for (int next : task.next) ++waits_[size_t(next)];
    for (size_t t = 0; t < tasks_.size(); ++t)
      if (waits_[t] == 0) events_.push({0, int(t), kReady});
    while (!events_.empty()) {
      const double now_us = std::get<0>(events_.top());
      std::set<int> changed;  // resources
      for (; !events_.empty() && std::get<0>(events_.top()) <= now_us; events_.pop()) {
        const auto [us, task, what] = events_.top();
        Happen(us, task, what, changed);
      }
      for (int resource : changed) BeginNext(resource, now_us);
    }
    if (begun_ < tasks_.size())
      Fail(Code::kInternal, "tasks", "wait in a circle; got {} of {} that can begin", begun_, tasks_.size());
    return std::move(times_);
  }

 private:
  enum What { kReady, kEnd };

  void Happen(double us, int task, What what, std::set<int>& changed) {
    const int resource = tasks_[size_t(task)].resource;
    if (what == kReady && resource < 0) return Begin(task, us);
    if (what == kReady) ready_[size_t(resource)].insert({tasks_[size_t(task)].rank, us, task});
    else busy_[size_t(resource)] = false;
    changed.insert(resource);
  }

  void BeginNext(int resource, double now_us) {
    auto& ready = ready_[size_t(resource)];
    if (busy_[size_t(resource)] || ready.empty()) return;
    const int task = std::get<2>(*ready.begin());
    ready.erase(ready.begin());
    busy_[size_t(resource)] = true;
    Begin(task, now_us);
    events_.push({now_us + tasks_[size_t(task)].us, task, kEnd});
  }

  void Begin(int at, double now_us) {
    const Task& task = tasks_[size_t(at)];
    times_[size_t(at)] = {now_us, now_us + task.us};
    ++begun_;
    for (int next : task.next) {
      double& ready_us = ready_us_[size_t(next)];
      ready_us = std::max(ready_us, now_us + task.next_us);
      if (--waits_[size_t(next)] == 0) events_.push({ready_us, next, kReady});
    }
  }

  using Event = std::tuple<double, int, What>;
  const std::vector<Task>& tasks_;
  std::vector<TaskTimes> times_;
  std::vector<int> waits_;        // the number of tasks that each task waits for
  std::vector<double> ready_us_;  // the times at which tasks that have begun let each task begin
  std::vector<std::set<std::tuple<int, double, int>>> ready_;  // by resource: rank, since when, task
  std::vector<bool> busy_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  size_t begun_ = 0;
};

}  // namespace

std::vector<TaskTimes> RunTasks(const std::vector<Task>& tasks, int resources) {
  return TaskRunner(tasks, resources).Do();
}

}  // namespace mete
