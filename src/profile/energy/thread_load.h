// Threads of this machine that compute for a meter.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "profile/energy/energy_profile.h"

namespace mete {

// What a thread reads where no cache may hold it: four times the machine's largest cache in all, divided by
// the cores, and between 16 and 512 MiB; 64 MiB where no cache is told.
int64_t BytesPerThread(const Machine& machine, int cores);

class ThreadLoad : public EnergyLoad {
 public:
  explicit ThreadLoad(const Machine& machine) : machine_(machine) {}
  ~ThreadLoad() override { Stop(); }

  // Error UNAVAILABLE where a core is refused.
  void Start(const std::vector<int>& cores, const ReuseLoad& load) override;
  double Flops() override;
  void Stop() override;

 private:
  struct alignas(64) Worker {  // a cache line each
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
