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

std::string TypeText(const GpuProcessorOptions& options) {
  if (options.storage == DType::kF32) return "f32";
  return options.exact_bytes ? "f16, exact bytes" : "f16, bytes within a level";
}

std::string Describe(const DeviceFacts& facts, StagingKind staging, const GpuProcessorOptions& options) {
  return fmt::format("{} ({} {}), {}, inputs and outputs in {}", facts.model, facts.platform, facts.driver,
                     TypeText(options), Name(staging));
}

}  // namespace

GpuTarget TargetOf(const DeviceFacts& facts, const GpuProcessorOptions& options) {
  GpuTarget target;
  target.tile.is_cpu = facts.type == "cpu";
  if (facts.float_vector > 0) target.tile.vector = int(facts.float_vector);
  target.alignment = std::max<int64_t>(facts.base_alignment, 1);
  target.most_buffer_bytes = facts.most_allocation_bytes;
  target.storage = options.storage;
  target.exact_bytes = options.exact_bytes;
  return target;
}

GpuProcessor::Opened::Opened(const std::string& name, const TriedDevice& tried,
                             const GpuProcessorOptions& options)
    : device(tried.device),
      staging(StagingFor(tried.proved)),
      target(TargetOf(device.facts(), options)),
      info{name, "gpu", Describe(device.facts(), staging, options)},
      tuner(options.tune ? std::make_unique<TileTuner>(options.kernels_folder, device.facts()) : nullptr) {}

GpuProcessor::GpuProcessor(const std::string& name, FindDevice find, const GpuProcessorOptions& options,
                           std::shared_ptr<GpuInUse> in_use)
    : find_(std::move(find)),
      options_(options),
      unopened_{name, "gpu", "a GPU that is not needed yet"},
      in_use_(std::move(in_use)) {}

const GpuProcessor::Opened& GpuProcessor::Open() const {
  const std::lock_guard lock(opening_);
  if (!opened_) Find();
  return *opened_;
}

void GpuProcessor::Find() const {
  const Clock::Time begin = options_.clock.Now();
  if (why_not_opened_ && begin < look_again_at_) std::rethrow_exception(why_not_opened_);
  try {
    opened_ = std::make_unique<const Opened>(
        unopened_.name, find_(why_not_opened_ ? Look::kAgain : Look::kFirst, in_use_->cancelled), options_);
    found_ = opened_.get();
  } catch (const Error& error) {
    if (error.code() == Code::kCancelled) throw;
    why_not_opened_ = std::current_exception();
    const Clock::Time now = options_.clock.Now();
    const bool can_pass = error.code() == Code::kUnavailable;
    look_again_at_ = can_pass ? now + kPause * (now - begin) : Clock::Time::max();
    throw;
  }
}

const ProcessorInfo& GpuProcessor::info() const {
  const Opened* const found = found_;
  return found ? found->info : unopened_;
}

std::shared_ptr<LiveGpu> GpuProcessor::Live() const {
  const Opened& opened = Open();
  const std::lock_guard lock(in_use_->mutex);
  if (in_use_->live && !in_use_->live->is_lost()) return in_use_->live;
  in_use_->live = nullptr;  // what is left of a lost one lives as long as the shares on it
  // What several processors have in common has the name of their unit.
  auto live =
      std::make_shared<LiveGpu>(options_.unit.empty() ? opened.info.name : options_.unit, opened.device,
                                opened.staging, options_.kernels_folder, options_.clock);
  const auto hello = LiveGpu::Batch(*live, /*timed=*/false).Flush();
  live->Await(*hello, kHello);
  if (in_use_->cancelled.cancelled()) live->CancelPreparing();
  return in_use_->live = std::move(live);
}

void GpuProcessor::CancelPreparing() {
  const std::lock_guard lock(in_use_->mutex);
  in_use_->cancelled.Cancel();
  if (in_use_->live) in_use_->live->CancelPreparing();
}

MakeTensor GpuProcessor::SharedMemory() {
  const Opened* const opened = found_;
  if (!opened || opened->staging != StagingKind::kShared) return nullptr;
  return [this](DType type, const Shape& shape) {
    std::shared_ptr<LiveGpu> live;
    {
      const std::lock_guard lock(in_use_->mutex);
      live = in_use_->live;
    }
    if (live && !live->is_lost() && live->shared()) {
      try {
        return live->shared()->Make(type, shape);
      } catch (const Error&) {}  // the device has no memory left, or has just been lost
    }
    return Tensor(type, shape);  // which shares copy
  };
}

ProcessorMemory GpuProcessor::memory() const {
  const std::unique_lock lock(in_use_->mutex, std::try_to_lock);
  if (!lock) return {};  // the device is being opened, which takes as long as its driver wants
  const std::shared_ptr<LiveGpu>& live = in_use_->live;
  return live ? ProcessorMemory{live->constants().bytes(), live->values_bytes()} : ProcessorMemory();
}

void GpuProcessor::CheckThere() const { (void)Live(); }

std::string GpuProcessor::WhyNot(const Graph& graph, const Node& node) const {
  return WhyNoKernel(graph, node);
}

std::shared_ptr<Ready> GpuProcessor::Prepare(const Graph& share) {
  const int64_t start_ns = NowNs();
  CheckCanCompute(*this, share);
  auto graph = std::make_unique<Graph>(share);
  WriteEveryTransposedConvolution(*graph);
  (void)RunPasses(*graph);
  std::shared_ptr<LiveGpu> live = Live();
  const ShareOnGpu lowered = Lowered(*graph, live);
  return std::make_shared<ReadyOnGpu>(unopened_.name, std::move(live), std::move(graph), lowered, start_ns);
}

ShareOnGpu GpuProcessor::Lowered(const Graph& graph, const std::shared_ptr<LiveGpu>& live) const {
  const Opened& opened = Open();
  if (!opened.tuner) return Lower(graph, opened.target, {});
  const ShareOnGpu lowered =
      Lower(graph, opened.target, [&](const ConvSpec& spec, std::span<const Tile> candidates) {
        return opened.tuner->Choose(live, spec, candidates);
      });
  opened.tuner->Save();
  return lowered;
}

}  // namespace mete::opencl
