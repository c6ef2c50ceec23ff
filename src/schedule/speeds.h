// What a policy has seen of its workers: nanoseconds a block, for each step, in this run and in earlier ones.
#pragma once

#include <vector>

#include "schedule/policy.h"

namespace mete {

class Speeds {
 public:
  explicit Speeds(const std::vector<WorkerSpeed>& workers) : workers_(workers.size()) {
    for (size_t w = 0; w < workers.size(); ++w) workers_[w].speed = workers[w].speed;
  }

  void Begin(int64_t region, int64_t now_ns);
  void Start(int worker, int64_t blocks, int64_t now_ns);  // begins to compute
  void Finish(int worker, int64_t now_ns);                 // has computed what it started, if anything

  // Expected for this region: what the worker usually takes, times how slow it is just now. Only ratios mean something while nothing
  // is Known() of the region.
  double BlockNs(int worker) const;
  bool Known() const { return known_; }
  // When the worker is expected to be done with what it has; `now_ns` if that is nothing. One that is late will be as late again.
  double FreeAtNs(int worker, int64_t now_ns) const;

 private:
  struct Worker {
    double speed = 1;       // as the plan says
    double slowdown = 1;    // just now, of the usual
    int64_t blocks = 0;     // in hand
    int64_t start_ns = 0;
  };

  double Usual(int worker) const;

  std::vector<Worker> workers_;
  std::vector<std::vector<double>> usual_;  // [region][worker], 0: not seen
  size_t region_ = 0;
  bool known_ = false;
};

}  // namespace mete
