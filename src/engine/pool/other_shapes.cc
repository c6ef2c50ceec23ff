#include "engine/pool/other_shapes.h"

#include "engine/model.h"
#include "engine/pool/open_pool.h"
#include "engine/shaped_model.h"
#include "processor/make/make_processor.h"

namespace mete {

ReadyOnCpu& OtherShapes::OnHome() {
  std::lock_guard lock(mutex_);
  if (!ready_)
    ready_ = std::make_unique<ReadyOnCpu>(GraphOf(model_), home_, std::nullopt, ShapedGraphsOf(model_));
  return *ready_;
}

std::vector<Tensor> OtherShapes::Run(std::span<const Tensor> inputs, const Stops& stops) {
  return OnHome().Run(inputs, {.cancel = stops.cancel, .deadline = stops.deadline});
}

void OtherShapes::Run(std::span<const ConstView> inputs, std::span<const View> outputs, const Stops& stops) {
  OnHome().Run(inputs, outputs, {.cancel = stops.cancel, .deadline = stops.deadline});
}

ShapeStats OtherShapes::stats() const {
  std::lock_guard lock(mutex_);
  return ready_ ? ready_->shape_stats() : ShapeStats{};
}

std::optional<SessionOptions> HomeOptionsOf(const PoolInternals::Impl& pool, const PoolOptions& options) {
  const DeviceInPool& device = FileOf(pool).devices.at(0);
  const ProcessorEntry home =
      device.processors.empty() ? ProcessorEntry{.name = device.name} : device.processors[0];
  if (home.kind != "cpu") return std::nullopt;
  SessionOptions of_home = CpuOptionsOf(home, KernelOptionsOf(options));
  // As for the parts of the model on a pool: a session on a pool is always settled.
  if (of_home.tune == Tune::kAfter) of_home.tune = Tune::kBefore;
  return of_home;
}

}  // namespace mete
