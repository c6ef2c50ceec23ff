// What a worker tells of itself: what it has done since it was started, and its memory.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "base/time_histogram.h"
#include "network/worker/memory_budget.h"
#include "network/worker/weight_store.h"
#include "run/program_run.h"
#include "src/network/protocol/worker.pb.h"

namespace mete {

class WorkerCounts {  // thread-safe
 public:
  // A processor has computed its part of a request, with these times of its stages.
  void Done(const std::string& processor, std::span<const StageTimes> times);
  void Failed();  // a deployment has

  double BusyS(const std::string& processor) const;
  void Tell(worker::v1::StatusReply& reply) const;  // counts and times of requests

 private:
  mutable std::mutex mutex_;
  TimeHistogram times_;
  std::map<std::string, double> busy_s_;  // by processor
  uint64_t requests_ = 0, failures_ = 0;
};

void TellMemory(const MemoryBudget& budget, const WeightStore& weights, worker::v1::StatusReply& reply);

}  // namespace mete
