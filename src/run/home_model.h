// The whole model on a session's home alone. It computes retries, and is therefore always ready.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "processor/processor.h"
#include "run/turn.h"

namespace mete {

class HomeModel {
 public:
  // `predicted_us` is the time of a request by the costs; 0: unknown.
  HomeModel(const Graph& graph, std::shared_ptr<Processor> processor, double predicted_us);

  // Computes a request; `us` gets the time that it took. Thread-safe.
  std::vector<Tensor> Run(std::span<const Tensor> inputs, double* us);
  void Run(std::span<const ConstView> inputs, std::span<const View> outputs, double* us);
  // Computes without counting for usual_us(). Error CANCELLED.
  std::vector<Tensor> Try(std::span<const Tensor> inputs, const CancelToken& cancel) const;
  void Try(std::span<const ConstView> inputs, std::span<const View> outputs, const CancelToken& cancel) const;

  double usual_us() const;  // the time of a request: as predicted, then as measured
  double prepare_ms() const { return ready_->prepare_ms(); }
  const ThreadPlan* thread_plan() const { return ready_->thread_plan(); }
  Processor& processor() const { return *processor_; }
  Turn& turn() const { return turn_; }  // of the threads that compute the model

 private:
  void Learn(double us);

  const std::shared_ptr<Processor> processor_;
  const std::shared_ptr<Ready> ready_;
  mutable Turn turn_;
  mutable std::mutex mutex_;
  double usual_us_;
};

}  // namespace mete
