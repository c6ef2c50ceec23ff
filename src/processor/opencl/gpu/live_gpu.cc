#include "processor/opencl/gpu/live_gpu.h"

#include "base/error.h"
#include "schedule/policy.h"

namespace mete::opencl {
namespace {

// Returns how long a thread looks for the end of a batch before it sleeps: as long as the threads of a CPU
// look for the next region. A device that computes on cores needs the one of the thread that waits: where
// both have the same core, a share of one small kernel took PoCL 124 us beside a thread that looks, and 17 us
// beside one that sleeps (share_us of a profile, AMD EPYC).
std::chrono::nanoseconds SpinOf(const DeviceFacts& facts) {
  return std::chrono::nanoseconds(facts.type == "cpu" ? 0 : kSpinNs);
}

// For commands that compile, and for those that pack. This value is a guess: PoCL takes 0.7 s for a kernel,
// and boards are slower.
constexpr std::chrono::seconds kPatience{120};

}  // namespace

LiveGpu::LiveGpu(std::string name, const Device& device, StagingKind staging,
                 const std::string& kernels_folder, Clock& clock)
    : name_(std::move(name)),
      context_(device),
      staging_(staging),
      spin_(SpinOf(device.facts())),
      clock_(clock),
      compute_(context_, {}),
      transfers_(context_, {}),
      kept_(kernels_folder, device.facts()) {
  if (staging_ == StagingKind::kShared) shared_.emplace(context_);
}

void LiveGpu::CheckThere() const {
  if (lost_)
    Fail(Code::kUnavailable, name_,
         "its queue hung and was abandoned; what it had prepared must be prepared again");
}

void LiveGpu::Lose(const std::string& why) {
  lost_ = true;
  context_.Abandon();
  Fail(Code::kUnavailable, name_, "{}; the GPU is given up", why);
}

bool LiveGpu::AwaitUntil(const Event& event, Clock::Time until) const {
  return event.WaitUntil(until, spin_, clock_);
}

void LiveGpu::Await(const Event& event, Clock::Duration patience) {
  if (AwaitUntil(event, clock_.Now() + patience)) return;
  Lose(
      fmt::format("a command has not ended after {:.1f} s", std::chrono::duration<double>(patience).count()));
}

LiveGpu::Batch::Batch(LiveGpu& live, bool timed)
    : live_(live),
      lock_(live.batch_mutex_),
      timed_(timed),
      queue_(!timed        ? live.compute_
             : live.timed_ ? *live.timed_
                           : live.timed_.emplace(live.context_, QueueOptions{.profiling = true})),
      before_(live.last_was_timed_ == timed ? nullptr : live.last_) {
  live.CheckThere();
}

std::shared_ptr<const Event> LiveGpu::Batch::Flush() {
  auto end = std::make_shared<const Event>(queue_.Marker());
  queue_.Flush();
  live_.last_was_timed_ = timed_;
  live_.last_ = end;
  return end;
}

LiveGpu::Need::Need(std::shared_ptr<LiveGpu> live, int64_t bytes) : live_(std::move(live)), bytes_(bytes) {
  const std::lock_guard lock(live_->needs_mutex_);
  live_->needs_.insert(bytes_);
}

LiveGpu::Need::~Need() {
  const std::lock_guard lock(live_->needs_mutex_);
  live_->needs_.erase(live_->needs_.find(bytes_));
  const int64_t most = live_->needs_.empty() ? 0 : *live_->needs_.rbegin();
  if (live_->arena_ && live_->arena_->bytes() > most) live_->arena_ = nullptr;
}

std::shared_ptr<const Buffer> LiveGpu::Arena() {
  const std::lock_guard lock(needs_mutex_);
  const int64_t most = needs_.empty() ? 0 : *needs_.rbegin();
  if (most == 0) return nullptr;
  if (!arena_ || arena_->bytes() != most) {
    arena_ = nullptr;  // before the next one is allocated
    arena_ = std::make_shared<const Buffer>(context_, BufferOptions{.bytes = most});
  }
  return arena_;
}

int64_t LiveGpu::values_bytes() {
  const std::lock_guard lock(needs_mutex_);
  return (arena_ ? arena_->bytes() : 0) + (shared_ ? shared_->bytes() : 0);
}

void LiveGpu::CheckPreparing() const {
  if (cancelled_) Fail(Code::kCancelled, name_, "its kernels are needed no more");
}

void LiveGpu::AwaitPreparing(const Event& event) { Await(event, kPatience); }

void LiveGpu::RunOnce(const Kernel& kernel, const Range& range) {
  CheckPreparing();
  const auto end = [&] {
    Batch batch(*this, /*timed=*/false);
    const Event* const before = batch.before();
    batch.queue().LaunchOnly(kernel, range, before ? After(&before, 1) : After());
    return batch.Flush();
  }();
  AwaitPreparing(*end);
}

std::shared_ptr<LiveGpu::Compiled> LiveGpu::ProgramOf(const KernelText& text) {
  CheckPreparing();
  const std::string digest = DigestOfProgram(text);
  const std::lock_guard lock(programs_mutex_);
  std::weak_ptr<Compiled>& known = programs_[digest];
  std::shared_ptr<Compiled> compiled = known.lock();
  if (!compiled) known = compiled = Compile(text, digest);
  return compiled;
}

std::shared_ptr<LiveGpu::Compiled> LiveGpu::Compile(const KernelText& text, const std::string& digest) const {
  if (const std::vector<std::byte> binary = kept_.Find(digest); !binary.empty()) {
    try {
      return std::make_shared<Compiled>(Program(context_, binary, ""), digest, /*compiled=*/false);
    } catch (const Error&) {}  // the driver does not take it: the text is compiled again
  }
  return std::make_shared<Compiled>(Program(context_, text.source, ""), digest, /*compiled=*/true);
}

void LiveGpu::Keep(Compiled& compiled) const {
  if (!kept_.keeps() || !compiled.is_new.exchange(false)) return;
  try {
    kept_.Keep(compiled.digest, compiled.program.binary());
  } catch (const Error&) {}  // a driver without binaries: the next start compiles again
}

}  // namespace mete::opencl
