#include "processor/emulated/emulated.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "processor/check_share.h"

namespace mete {
namespace {

constexpr int64_t kAwakeNs = 1'000'000;  // a device that has computed within this time needs no waking; guess

int64_t Ns(double us) { return int64_t(us * 1e3); }

// Time on a device passes whatever its host does: the thread keeps the core busy, as a slower core would be.
void SpinUntil(int64_t ns) {
  while (NowNs() < ns) {}
}

std::string Describe(const Cpu& cpu, double speed, const Emulation& e) {
  return fmt::format("an emulation on {}: speed {:g}, launch {:g} us, map {:g} us and {:g} us/MiB{}",
                     cpu.info().description, speed, e.launch_us, e.map_us, e.map_us_per_mib,
                     e.prepare_ms > 0 ? fmt::format(", kernels in {:g} ms", e.prepare_ms) : "");
}

}  // namespace

class ReadyEmulated : public Ready {
 public:
  ReadyEmulated(Emulated& processor, std::shared_ptr<Ready> share)
      : processor_(processor), share_(std::move(share)) {}

  void Start(std::span<const ConstView> inputs, std::span<const View> outputs,
             const RunOptions& options) override {
    Emulate(options, [&] { share_->Run(inputs, outputs, options); });
  }
  void Wait() override {}
  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) override {
    std::vector<Tensor> outputs;
    Emulate(options, [&] { outputs = share_->Run(inputs, options); });
    return outputs;
  }
  int64_t memory_bytes() const override { return share_->memory_bytes(); }
  int threads() const override { return share_->threads(); }
  double prepare_ms() const override { return share_->prepare_ms(); }
  const ThreadPlan* thread_plan() const override { return share_->thread_plan(); }

 private:
  template <class F>
  void Emulate(const RunOptions& options, F compute) {
    Misbehave(options);
    const double launch_us = processor_.LaunchUs();
    SpinUntil(NowNs() + Ns(launch_us));
    const int64_t start_ns = NowNs();
    compute();
    const int64_t ns = NowNs() - start_ns;
    SpinUntil(start_ns + int64_t(double(ns) / processor_.speed_));
    processor_.last_end_ns_ = NowNs();
    if (options.trace) Stretch(*options.trace, Ns(launch_us));
  }

  // The trace of the CPU as the emulated processor's.
  void Stretch(Trace& trace, int64_t launch_ns) const {
    const auto at = [&](int64_t ns) { return launch_ns + int64_t(double(ns) / processor_.speed_); };
    for (TraceEvent& event : trace.events) {
      event.start_ns = at(event.start_ns);
      event.end_ns = at(event.end_ns);
    }
    trace.total_ns = at(trace.total_ns);
  }

  void Misbehave(const RunOptions& options) {
    const std::string& name = processor_.info().name;
    switch (processor_.FaultOfRun()) {
      case Emulated::Stage::kRun:
        Fail(Code::kInternal, name, "fails in this run, as its description asks for");
      case Emulated::Stage::kLost: Fail(Code::kUnavailable, name, "is lost, as its description asks for");
      case Emulated::Stage::kHang:
        while (options.cancel && !options.cancel->cancelled())
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        Fail(Code::kCancelled, name, "hung until the run was cancelled, as its description asks for");
      default: break;
    }
  }

  Emulated& processor_;
  const std::shared_ptr<Ready> share_;
};

Emulated::Emulated(std::string name, SessionOptions options, double speed, Emulation emulation)
    : cpu_(name, std::move(options)),
      info_{std::move(name), "emulated", Describe(cpu_, speed, emulation)},
      speed_(speed),
      emulation_(std::move(emulation)) {
  const std::string& fails = emulation_.fails;
  if (fails.empty()) return;
  fault_ = fails == "prepare"           ? Stage::kPrepare
           : fails.starts_with("run ")  ? Stage::kRun
           : fails.starts_with("hang ") ? Stage::kHang
                                        : Stage::kLost;
  if (fault_ != Stage::kPrepare) faulty_run_ = std::stoll(fails.substr(fails.find(' ') + 1));
}

Emulated::Stage Emulated::FaultOfRun() {
  const int64_t run = ++runs_;
  if (lost_) return Stage::kLost;
  if (fault_ == Stage::kNever || fault_ == Stage::kPrepare || run != faulty_run_) return Stage::kNever;
  if (fault_ == Stage::kLost) lost_ = true;
  return fault_;
}

double Emulated::LaunchUs() const {
  const bool asleep = NowNs() - last_end_ns_ > kAwakeNs;
  return emulation_.launch_us + (asleep ? emulation_.wake_us : 0);
}

std::string Emulated::WhyNot(const Graph& graph, const Node& node) const {
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ValueId id : *list) {
      if (id == kNoValue) continue;
      const std::string type = Name(graph.value(id).type);
      if (std::find(emulation_.lacks.begin(), emulation_.lacks.end(), type) != emulation_.lacks.end())
        return fmt::format("{} cannot compute {}", info_.name, type);
    }
  const auto& lacks = emulation_.lacks_operators;
  if (std::find(lacks.begin(), lacks.end(), node.op) != lacks.end())
    return "no kernel for operator " + node.op;
  return cpu_.WhyNot(graph, node);
}

void Emulated::CheckThere() const {
  if (lost_) Fail(Code::kUnavailable, info_.name, "is lost, as its description asks for");
}

void Emulated::CheckShare(const Graph& share) const {
  CheckThere();
  if (fault_ == Stage::kPrepare)
    Fail(Code::kFailedPrecondition, info_.name, "fails to prepare, as its description asks for");
  CheckCanCompute(*this, share);
}

void Emulated::BuildKernels() {
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double, std::milli> takes(emulation_.prepare_ms);
  if (changed_.wait_for(lock, takes, [this] { return cancelled_; }) && PreparesLate())
    Fail(Code::kCancelled, info_.name, "its kernels are needed no more");
}

void Emulated::CancelPreparing() {
  {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
}

std::shared_ptr<Ready> Emulated::Prepare(const Graph& share) {
  CheckShare(share);
  BuildKernels();
  return std::make_shared<ReadyEmulated>(*this, cpu_.Prepare(share));
}

std::shared_ptr<Ready> Emulated::PrepareAsPlanned(const Graph& share, const ThreadPlan& threads) {
  CheckShare(share);
  BuildKernels();
  return std::make_shared<ReadyEmulated>(*this, cpu_.PrepareAsPlanned(share, threads));
}

Tensor Emulated::Import(Tensor tensor) {
  SpinUntil(NowNs() +
            Ns(emulation_.map_us + emulation_.map_us_per_mib * double(tensor.bytes()) / double(1 << 20)));
  return tensor;
}

Tensor Emulated::Export(Tensor tensor) { return Import(std::move(tensor)); }

std::shared_ptr<Processor> MakeEmulated(const ProcessorEntry& entry, SessionOptions options) {
  const auto* settings = std::any_cast<Emulation>(&entry.settings);
  return std::make_shared<Emulated>(entry.name, std::move(options), entry.speed,
                                    settings ? *settings : Emulation{});
}

}  // namespace mete
