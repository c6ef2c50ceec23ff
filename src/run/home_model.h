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
  // kSoon: by kernels that are chosen by estimates, until Settle() has measured them.
  enum class Begins { kMeasured, kSoon };

  // `predicted_us` is the time of a request by the costs; 0: unknown.
  HomeModel(const Graph& graph, std::shared_ptr<Processor> processor, double predicted_us, Begins begins);

  // Measures the kernels that were chosen by estimates, in turns with requests. Error CANCELLED.
  void Settle(const CancelToken& cancel) const;

  // Computes a request; `us` gets the time that it took. Thread-safe.
  std::vector<Tensor> Run(std::span<const Tensor> inputs, double* us);
  void Run(std::span<const ConstView> inputs, std::span<const View> outputs, double* us);
  // Computes without counting for usual_us(). Error CANCELLED.
  std::vector<Tensor> Try(std::span<const Tensor> inputs, const CancelToken& cancel) const;
  void Try(std::span<const ConstView> inputs, std::span<const View> outputs, const CancelToken& cancel) const;

  Begins begins() const { return begins_; }
  double usual_us() const;  // the time of a request: as predicted, then as measured
  double prepare_ms() const { return ready_->prepare_ms(); }
  const ThreadPlan* thread_plan() const { return ready_->thread_plan(); }
  Processor& processor() const { return *processor_; }
  Turn& turn() const { return turn_; }  // of the threads that compute the model

 private:
  void Learn(double us);

  const std::shared_ptr<Processor> processor_;
  const Begins begins_;
  const std::shared_ptr<Ready> ready_;
  mutable Turn turn_;
  mutable std::mutex mutex_;
  double usual_us_;
};

}  // namespace mete
