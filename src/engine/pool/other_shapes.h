// Runs with other shapes than those for which a pool's model was loaded: the pool's home computes them alone.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/pool/pool_internals.h"
#include "mete/engine.h"
#include "processor/cpu/ready_on_cpu.h"
#include "processor/stops.h"

namespace mete {

// Thread-safe; runs take turns.
class OtherShapes {
 public:
  // `home`: the options of the home's kernels. The first run makes the model ready on it, with a pool of
  // threads of its own; packed weights are those of the other sessions of this process.
  OtherShapes(const Model& model, SessionOptions home) : model_(model), home_(std::move(home)) {}

  // The inputs fit the shapes that the model's file declares. Errors as those of a Session on one CPU.
  std::vector<Tensor> Run(std::span<const Tensor> inputs, const Stops& stops);
  void Run(std::span<const ConstView> inputs, std::span<const View> outputs, const Stops& stops);

  ShapeStats stats() const;

 private:
  ReadyOnCpu& OnHome();

  const Model model_;
  const SessionOptions home_;
  mutable std::mutex mutex_;           // guards ready_
  std::unique_ptr<ReadyOnCpu> ready_;  // null until the first run
};

// Returns the options of the kernels of the pool's home; nothing if it is no CPU of this process.
std::optional<SessionOptions> HomeOptionsOf(const PoolInternals::Impl& pool, const PoolOptions& options);

}  // namespace mete
