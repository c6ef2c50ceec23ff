// A load of threads on this machine, for measuring energy.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "profile/energy/energy_profile.h"

namespace mete {

// Returns the size of a thread's buffer that no cache can hold: four times the machine's largest cache,
// divided by `cores`, at least 16 and at most 512 MiB; 64 MiB if the sizes of the caches are unknown.
int64_t BytesPerThread(const Machine& machine, int cores);

class ThreadLoad : public EnergyLoad {
 public:
  explicit ThreadLoad(const Machine& machine) : machine_(machine) {}
  ~ThreadLoad() override { Stop(); }

  // Error UNAVAILABLE if a thread cannot be pinned to its core.
  void Start(const std::vector<int>& cores, const ReuseLoad& load) override;
  double Flops() override;
  void Stop() override;

 private:
  struct alignas(64) Worker {  // each worker has its own cache lines
    std::atomic<int64_t> passes{0};
    std::atomic<bool> refused{false};
    double flops_per_pass = 0;
    std::thread thread;
  };
  void Work(Worker& worker, int core, const ReuseLoad& load, int64_t bytes);

  const Machine& machine_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<bool> stop_{false};
};

}  // namespace mete
