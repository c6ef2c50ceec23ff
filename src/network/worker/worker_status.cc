#include "network/worker/worker_status.h"

#include "base/process_use.h"

namespace mete {

void WorkerCounts::Done(const std::string& processor, std::span<const StageTimes> times) {
  double whole_us = 0, compute_us = 0;
  for (const StageTimes& stage : times) {
    whole_us += stage.wait_us + stage.compute_us;
    compute_us += stage.compute_us;
  }
  std::lock_guard lock(mutex_);
  ++requests_;
  times_.Add(whole_us * 1e-6);
  busy_s_[processor] += compute_us * 1e-6;
}

void WorkerCounts::Failed() {
  std::lock_guard lock(mutex_);
  ++failures_;
}

double WorkerCounts::BusyS(const std::string& processor) const {
  std::lock_guard lock(mutex_);
  const auto found = busy_s_.find(processor);
  return found == busy_s_.end() ? 0 : found->second;
}

void WorkerCounts::Tell(worker::v1::StatusReply& reply) const {
  std::lock_guard lock(mutex_);
  reply.set_requests(requests_);
  reply.set_failures(failures_);
  for (int bucket = 0; bucket < TimeHistogram::kBuckets; ++bucket) {
    reply.add_upper_s(TimeHistogram::UpperS(bucket));
    reply.add_count(times_.counts()[size_t(bucket)]);
  }
  reply.set_sum_s(times_.sum_s());
}

void TellMemory(const MemoryBudget& budget, const WeightStore& weights, worker::v1::StatusReply& reply) {
  const ProcessUse use = ReadProcessUse();
  reply.set_resident_bytes(use.resident_bytes);
  reply.set_peak_bytes(use.peak_bytes);
  reply.set_cpu_s(use.cpu_s);
  reply.set_taken_bytes(budget.taken());
  reply.set_most_taken_bytes(budget.most());
  reply.set_weights_bytes(weights.BytesOnDisk());
  reply.set_most_weights_bytes(weights.most_bytes());
}

}  // namespace mete
