#include "processor/opencl/gpu/gpu_processor.h"

#include "base/error.h"
#include "passes/pass.h"
#include "processor/check_share.h"
#include "processor/opencl/gpu/ready_on_gpu.h"

namespace mete::opencl {
namespace {

// For a new context's first command. This value is a guess: a driver that is being reset answers within
// seconds or not at all.
constexpr std::chrono::seconds kHello{5};

GpuTarget TargetOf(const DeviceFacts& facts, DType storage) {
  GpuTarget target;
  target.tile.is_cpu = facts.type == "cpu";
  if (facts.float_vector > 0) target.tile.vector = int(facts.float_vector);
  target.alignment = std::max<int64_t>(facts.sub_buffer_alignment, 1);
  target.most_buffer_bytes = facts.most_allocation_bytes;
  target.storage = storage;
  return target;
}

std::string Describe(const DeviceFacts& facts, StagingKind staging, DType storage) {
  return fmt::format("{} ({} {}), {}, inputs and outputs in {}", facts.model, facts.platform, facts.driver,
                     mete::Name(storage), Name(staging));
}

}  // namespace

GpuProcessor::GpuProcessor(const std::string& name, const Device& device, const ProbeFacts& proved,
                           const GpuProcessorOptions& options)
    : device_(device),
      staging_(StagingFor(proved)),
      options_(options),
      target_(TargetOf(device.facts(), options.storage)),
      info_{name, "gpu", Describe(device.facts(), staging_, options.storage)},
      tuner_(options.tune ? std::make_unique<TileTuner>(options.kernels_folder, device.facts()) : nullptr) {}

std::shared_ptr<LiveGpu> GpuProcessor::Live() const {
  const std::lock_guard lock(mutex_);
  if (live_ && !live_->is_lost()) return live_;
  live_ = nullptr;  // what is left of a lost one lives as long as the shares on it
  auto live =
      std::make_shared<LiveGpu>(info_.name, device_, staging_, options_.kernels_folder, options_.clock);
  const auto hello = LiveGpu::Batch(*live, /*timed=*/false).Flush();
  live->Await(*hello, kHello);
  if (cancelled_) live->CancelPreparing();
  return live_ = std::move(live);
}

void GpuProcessor::CancelPreparing() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (live_) live_->CancelPreparing();
}

MakeTensor GpuProcessor::SharedMemory() {
  if (staging_ != StagingKind::kShared) return nullptr;
  return [this](DType type, const Shape& shape) {
    std::shared_ptr<LiveGpu> live;
    {
      const std::lock_guard lock(mutex_);
      live = live_;
    }
    if (live && !live->is_lost()) return live->shared()->Make(type, shape);
    return Tensor(type, shape);  // the share that is then prepared on another context copies it
  };
}

void GpuProcessor::CheckThere() const { (void)Live(); }

std::string GpuProcessor::WhyNot(const Graph& graph, const Node& node) const {
  return WhyNoKernel(graph, node);
}

std::shared_ptr<Ready> GpuProcessor::Prepare(const Graph& share) {
  const int64_t start_ns = NowNs();
  CheckCanCompute(*this, share);
  auto graph = std::make_unique<Graph>(share);
  (void)RunPasses(*graph);
  std::shared_ptr<LiveGpu> live = Live();
  const ShareOnGpu lowered = Lowered(*graph, live);
  return std::make_shared<ReadyOnGpu>(std::move(live), std::move(graph), lowered, start_ns);
}

ShareOnGpu GpuProcessor::Lowered(const Graph& graph, const std::shared_ptr<LiveGpu>& live) const {
  if (!tuner_) return Lower(graph, target_, {});
  const ShareOnGpu lowered =
      Lower(graph, target_, [&](const ConvSpec& spec, std::span<const Tile> candidates) {
        return tuner_->Choose(live, spec, candidates);
      });
  tuner_->Save();
  return lowered;
}

}  // namespace mete::opencl
