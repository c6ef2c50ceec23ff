// A share on a GPU, ready to run: its launches go to the queue as one batch.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "processor/opencl/gpu/loaded_share.h"
#include "processor/processor.h"

namespace mete::opencl {

// Returns the bytes of some values of a graph, such as its inputs.
std::vector<int64_t> BytesOf(const Graph& graph, const std::vector<ValueId>& ids);

class ReadyOnGpu : public Ready {
 public:
  // `name`: of the processor, one of several that may have the device. `graph` has had its passes, and
  // `share` is made of it. `start_ns`: when its preparation began.
  ReadyOnGpu(std::string name, std::shared_ptr<LiveGpu> live, std::unique_ptr<const Graph> graph,
             const ShareOnGpu& share, int64_t start_ns);
  ~ReadyOnGpu() override;

  // Copies inputs that do not lie in the device's shared memory, enqueues the batch and begins to run it.
  void Start(std::span<const ConstView> inputs, std::span<const View> outputs,
             const RunOptions& options) override;
  // Looks for the batch's end for a while, then sleeps. A run that is cancelled meanwhile is left to itself:
  // nothing that the device does touches the caller's memory. If the batch does not end in many times the
  // time of those before, the processor is lost: UNAVAILABLE.
  void Wait() override;

  using Ready::Run;
  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) override;

  int64_t memory_bytes() const override { return share_.memory_bytes(); }
  int threads() const override { return 1; }
  double prepare_ms() const override { return prepare_ms_; }

 private:
  // The request between Start() and Wait().
  struct Request {
    std::unique_lock<std::mutex> turn;
    std::vector<View> outputs;
    RunOptions options;
    int64_t start_ns = 0;
    std::vector<Event> times;  // of the launches, if the options have a trace
  };

  void CheckArguments(std::span<const ConstView> inputs, std::span<const View> outputs) const;
  void AwaitBatch();  // the one that is under way
  void Enqueue(std::span<const ConstView> inputs);
  // Returns whether the device uses the tensor where it lies.
  bool Adopts(Staging& staging, const ConstView& view);
  void AwaitOrCancel(const Event& event, const CancelToken* cancel);
  void CopyOut(const Request& request);
  void Record(const Request& request) const;
  Clock::Duration Patience() const;

  const std::string name_;
  const std::shared_ptr<LiveGpu> live_;
  const std::unique_ptr<const Graph> graph_;
  LoadedShare share_;
  double prepare_ms_ = 0;

  std::mutex mutex_;  // held from Start() to the end of Wait()
  std::optional<Request> request_;
  std::shared_ptr<const Event> batch_;  // the end of the last one; null: nothing is under way
  Clock::Duration longest_{};           // of all batches
};

}  // namespace mete::opencl
