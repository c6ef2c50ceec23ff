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
  TaskRunner(const std::vector<Task>& tasks, int resources, const std::vector<SlowedResource>& slowed)
      : tasks_(tasks),
        slowed_(slowed),
        times_(tasks.size()),
        waits_(tasks.size(), 0),
        ready_us_(tasks.size(), 0),
        ready_(size_t(resources)),
        doing_(size_t(resources)) {}

  std::vector<TaskTimes> Do() {
    for (const Task& task : tasks_)
      for (int next : task.next) ++waits_[size_t(next)];
    for (size_t t = 0; t < tasks_.size(); ++t)
      if (waits_[t] == 0) events_.push({0, int(t), kReady});
    while (!events_.empty()) {
      const double now_us = std::get<0>(events_.top());
      std::set<int> changed;  // resources
      while (!events_.empty() && std::get<0>(events_.top()) <= now_us) {
        const auto [us, task, what] = events_.top();
        events_.pop();
        Happen(us, task, what, changed);
      }
      for (int resource : changed) BeginNext(resource, now_us);
      SlowEachOther(changed, now_us);
    }
    if (begun_ < tasks_.size())
      Fail(Code::kInternal, "tasks", "wait in a circle; got {} of {} that can begin", begun_, tasks_.size());
    return std::move(times_);
  }

 private:
  enum What { kReady, kEnd };

  static constexpr int kNothing = -1;
  struct Doing {
    int task = kNothing;
    double rest_us = 0;   // of the task at `since_us`, if nothing slowed it
    double since_us = 0;  // when rest_us and factor were right
    double factor = 1;    // by which it is slowed
  };

  void Happen(double us, int task, What what, std::set<int>& changed) {
    const int resource = tasks_[size_t(task)].resource;
    if (what == kReady && resource < 0) return Begin(task, us);
    if (what == kReady) ready_[size_t(resource)].insert({tasks_[size_t(task)].rank, us, task});
    else if (!End(task, resource, us)) return;
    changed.insert(resource);
  }

  // Returns false if the task has been slowed, and does not end yet.
  bool End(int task, int resource, double us) {
    Doing& doing = doing_[size_t(resource)];
    if (doing.task != task || us != times_[size_t(task)].end_us) return false;
    doing.task = kNothing;
    if (MemoryOf(resource) >= 0) LetBegin(task, us);
    return true;
  }

  void BeginNext(int resource, double now_us) {
    auto& ready = ready_[size_t(resource)];
    if (doing_[size_t(resource)].task != kNothing || ready.empty()) return;
    const int task = std::get<2>(*ready.begin());
    ready.erase(ready.begin());
    doing_[size_t(resource)] = {task, tasks_[size_t(task)].us, now_us, 1};
    Begin(task, now_us);
    events_.push({times_[size_t(task)].end_us, task, kEnd});
  }

  void Begin(int at, double now_us) {
    const Task& task = tasks_[size_t(at)];
    times_[size_t(at)] = {now_us, now_us + task.us};
    ++begun_;
    if (task.resource < 0 || MemoryOf(task.resource) < 0) LetBegin(at, now_us + task.next_us);
  }

  void LetBegin(int task, double from_us) {
    for (int next : tasks_[size_t(task)].next) {
      double& ready_us = ready_us_[size_t(next)];
      ready_us = std::max(ready_us, from_us);
      if (--waits_[size_t(next)] == 0) events_.push({ready_us, next, kReady});
    }
  }

  int MemoryOf(int resource) const { return slowed_.empty() ? -1 : slowed_[size_t(resource)].memory; }

  // Sets the ends of all tasks whose memory one of the changed resources uses.
  void SlowEachOther(const std::set<int>& changed, double now_us) {
    std::set<int> memories;
    for (int resource : changed)
      if (MemoryOf(resource) >= 0) memories.insert(MemoryOf(resource));
    for (size_t r = 0; r < doing_.size() && !memories.empty(); ++r) {
      Doing& doing = doing_[r];
      if (doing.task == kNothing || !memories.contains(MemoryOf(int(r)))) continue;
      doing.rest_us -= (now_us - doing.since_us) / doing.factor;
      doing.since_us = now_us;
      const double factor = FactorOf(int(r));
      if (factor == doing.factor) continue;
      doing.factor = factor;
      times_[size_t(doing.task)].end_us = now_us + doing.rest_us * factor;
      events_.push({times_[size_t(doing.task)].end_us, doing.task, kEnd});
    }
  }

  double FactorOf(int resource) const {
    const int rank = tasks_[size_t(doing_[size_t(resource)].task)].rank;
    for (size_t other = 0; other < doing_.size(); ++other)
      if (int(other) != resource && doing_[other].task != kNothing &&
          MemoryOf(int(other)) == MemoryOf(resource) && tasks_[size_t(doing_[other].task)].rank != rank)
        return slowed_[size_t(resource)].factor;
    return 1;
  }

  using Event = std::tuple<double, int, What>;
  const std::vector<Task>& tasks_;
  const std::vector<SlowedResource>& slowed_;
  std::vector<TaskTimes> times_;
  std::vector<int> waits_;        // the number of tasks that each task waits for
  std::vector<double> ready_us_;  // the times at which tasks that have begun let each task begin
  std::vector<std::set<std::tuple<int, double, int>>> ready_;  // by resource: rank, since when, task
  std::vector<Doing> doing_;                                   // by resource
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  size_t begun_ = 0;
};

}  // namespace

std::vector<TaskTimes> RunTasks(const std::vector<Task>& tasks, int resources,
                                const std::vector<SlowedResource>& slowed) {
  return TaskRunner(tasks, resources, slowed).Do();
}

}  // namespace mete
