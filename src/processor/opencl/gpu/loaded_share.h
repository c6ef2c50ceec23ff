// A share's launches on a device: programs are compiled, weights are packed, arguments are set.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "processor/opencl/gpu/live_gpu.h"
#include "processor/opencl/gpu/load_constants.h"
#include "processor/opencl/share/share_on_gpu.h"

namespace mete::opencl {

class LoadedShare {
 public:
  // Compiles, packs, and lets each kernel run once over one work-group: drivers compile for good at the first
  // launch. `inputs` and `outputs` are the bytes of each, in the order of the graph.
  LoadedShare(std::shared_ptr<LiveGpu> live, const ShareOnGpu& share, const std::vector<int64_t>& inputs,
              const std::vector<int64_t>& outputs);

  std::vector<Staging>& inputs() { return inputs_; }
  std::vector<Staging>& outputs() { return outputs_; }

  // Lets go of the tensors of the last request, whose commands have ended.
  void Leave();

  // Enqueues all launches; the first one waits for `after`. `times` gets an event for each launch; null: none
  // is made.
  void Enqueue(Queue& queue, After after, std::vector<Event>* times);
  // Returns the node of each launch.
  const std::vector<int>& nodes() const { return nodes_; }

  int64_t memory_bytes() const;  // of all that it keeps, with its need of the arena

 private:
  struct BoundLaunch {
    std::shared_ptr<LiveGpu::Compiled> program;
    Kernel kernel;
    Range range;
    std::vector<Place> arguments;
  };

  BoundLaunch Bound(const Launch& launch);
  void WarmUp();
  void SetAll(BoundLaunch& launch);
  void SetArgument(BoundLaunch& launch, uint32_t index);
  void FollowArena();
  void FollowTensors();
  Staging* StagingAt(const Place& place);  // null: it is neither an input nor an output
  const void* PlaceBefore(const Place& place) const;

  const std::shared_ptr<LiveGpu> live_;
  std::vector<Staging> inputs_, outputs_;
  const LoadedConstants constants_;
  std::vector<const void*> places_;  // of inputs, then of outputs: for which arguments are set
  std::vector<BoundLaunch> launches_;
  std::vector<int> nodes_;
  int64_t arena_bytes_ = 0;
  std::optional<LiveGpu::Need> need_;    // none without an arena
  std::shared_ptr<const Buffer> arena_;  // for which arguments are set
};

}  // namespace mete::opencl
