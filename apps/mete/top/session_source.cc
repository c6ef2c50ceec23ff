// The figures of a session of this process, which runs again and again on random inputs.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "base/process_use.h"
#include "base/time_histogram.h"
#include "inputs.h"
#include "runner.h"
#include "top/source.h"

namespace mete::cli {
namespace {

constexpr size_t kMostEvents = 8;  // guess: as many as a small terminal has room for

// What both kinds of sessions have in common: threads that run it, and counts.
class LoopSource : public TopSource {
 public:
  LoopSource(const TopFlags& flags, const Context& context) : context_(context), flags_(flags) {
    context_.cancel = &stop_;
    context_.note = [this](const std::string& note) { AddEvent(note); };
    load_context_ = context;  // loading is cancelled by the user's interrupt
    load_context_.note = context_.note;
    figures_.source = "session of " + std::filesystem::path(flags.model.model).filename().string();
    figures_.about = "mete " METE_VERSION;
    figures_.models.push_back({.name = std::filesystem::path(flags.model.model).stem().string(),
                               .version = {},
                               .answered = 0,
                               .failed = 0});
  }

  top::Figures Poll() override {
    std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    Tell(figures_);
    top::ModelFigures& model = figures_.models[0];
    model.latencies = top::LatenciesOf(times_);
    figures_.at_s = SteadySeconds();
    figures_.uptime_s = figures_.at_s - began_s_;
    const ProcessUse use = ReadProcessUse();
    figures_.resident_bytes = double(use.resident_bytes);
    figures_.peak_bytes = double(use.peak_bytes);
    figures_.cpu_s = use.cpu_s;
    std::lock_guard events_lock(events_mutex_);
    figures_.events = {events_.begin(), events_.end()};
    return figures_;
  }
  bool may_come_back() const override { return false; }

 protected:
  // Begins to call `run`, on so many threads. To be called last by the constructors of derived classes.
  void Begin(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
  }
  // Ends the threads. To be called first by the destructors of derived classes.
  void End() {
    stop_.Cancel();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  virtual void Run() = 0;  // once, and counts it with mutex_ locked
  // Sets what the session says of itself, with mutex_ locked.
  virtual void Tell(top::Figures& figures) = 0;

  // With mutex_ locked.
  void CountRun(double seconds) {
    times_.Add(seconds);
    *figures_.models[0].answered += 1;
  }
  void CountBusy(const std::string& processor, double seconds) {
    top::ProcessorFigures& figures = ProcessorAt(processor);
    figures.busy_s = figures.busy_s.value_or(0) + seconds;
  }
  top::ProcessorFigures& ProcessorAt(const std::string& name) {
    for (top::ProcessorFigures& known : figures_.processors)
      if (known.name == name) return known;
    return figures_.processors.emplace_back(top::ProcessorFigures{.name = name, .busy_s = 0});
  }

  Model Load() { return LoadModel(flags_.model, load_context_); }
  std::vector<Tensor> InputsFor(const Model& model) const {
    std::vector<Tensor> inputs = PlaceTensors(model, {});
    FillRandom(model, flags_.seed, inputs);
    return inputs;
  }

  const TopFlags& flags() const { return flags_; }
  const Context& context() const { return context_; }            // of runs: cancelled at the end
  const Context& load_context() const { return load_context_; }  // of loading
  const CancelToken& stop() const { return stop_; }

  std::mutex mutex_;

 private:
  void Loop() {
    try {
      while (!stop_.cancelled()) Run();
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!stop_.cancelled()) error_ = std::current_exception();
    }
  }
  void AddEvent(const std::string& text) {
    std::lock_guard lock(events_mutex_);
    events_.push_back(text);
    if (events_.size() > kMostEvents) events_.pop_front();
  }

  CancelToken stop_;
  Context context_, load_context_;
  const TopFlags flags_;
  const double began_s_ = SteadySeconds();
  top::Figures figures_;
  TimeHistogram times_;
  std::exception_ptr error_;
  std::mutex events_mutex_;  // notes may come while mutex_ is locked
  std::deque<std::string> events_;
  std::vector<std::thread> threads_;
};

// Returns the predicted time of the nodes that compute; nothing if the plan of one of them has no prediction,
// as without a profile of this machine.
std::optional<double> PredictedS(const Session& session) {
  double us = 0;
  for (const StepInfo& step : session.Steps()) {
    if (step.kernel == "view") continue;
    if (step.predicted_us <= 0) return {};
    us += step.predicted_us;
  }
  return us > 0 ? std::optional(us * 1e-6) : std::nullopt;
}

// A session on this machine's CPU. Each run has a trace, which says how long its threads computed.
class CpuSource : public LoopSource {
 public:
  CpuSource(const TopFlags& flags, const Context& context)
      : LoopSource(flags, context),
        model_(Load()),
        session_(MakeSession(model_, flags.model, load_context())),
        runner_(model_, session_, InputsFor(model_), this->context()),
        predicted_s_(PredictedS(session_)),
        stats_(session_.stats()) {
    Begin(1);
  }
  ~CpuSource() override { End(); }

 private:
  void Run() override {
    Trace trace;
    const double seconds = runner_.RunMs(&trace) * 1e-3;
    std::map<int, int64_t> busy_ns;  // by thread; a wait lies within the time of its node
    for (const TraceEvent& event : trace.events)
      busy_ns[event.worker] += (event.waits() ? -1 : 1) * (event.end_ns - event.start_ns);
    std::lock_guard lock(mutex_);
    CountRun(seconds);
    since_poll_s_ += seconds;
    ++runs_since_poll_;
    for (size_t lane = 0; lane < trace.lanes.size(); ++lane)
      CountBusy(trace.lanes[lane], std::max(0.0, double(busy_ns[int(lane)]) * 1e-9));
    stats_ = session_.stats();  // between two runs, as the session may choose other kernels after each
  }

  void Tell(top::Figures& figures) override {
    top::ModelFigures& model = figures.models[0];
    model.predicted_s = predicted_s_;
    if (runs_since_poll_ > 0) model.measured_s = since_poll_s_ / runs_since_poll_;
    since_poll_s_ = 0;
    runs_since_poll_ = 0;
    figures.memory = {{"activations", double(stats_.arena_bytes)},
                      {"packed weights", double(stats_.packed_bytes)}};
  }

  const Model model_;
  Session session_;
  Runner runner_;
  const std::optional<double> predicted_s_;
  SessionStats stats_;
  double since_poll_s_ = 0;
  int runs_since_poll_ = 0;
};

// A session on a pool. Each run has a report, which says how long the processors computed.
class PoolSource : public LoopSource {
 public:
  PoolSource(const TopFlags& flags, const Context& context)
      : LoopSource(flags, context),
        home_(PoolFor(flags.pool.processors).processors().at(0).name),
        model_(Load()),
        session_(MakePoolSession(model_, flags.model, flags.pool, load_context())),
        inputs_(InputsFor(model_)) {
    SettlePool(session_, load_context());
    Begin(flags.pool.lanes);
  }
  ~PoolSource() override { End(); }

 private:
  void Run() override {
    RunReport report;
    (void)session_.Run(inputs_, {.cancel = &stop(), .report = &report});
    std::lock_guard lock(mutex_);
    CountRun(report.us * 1e-6);
    // of a request that was computed again, most of the time is the wait for the processor that failed
    if (report.alone && !report.retried) CountBusy(home_, report.us * 1e-6);
    for (size_t p = 0; p < report.compute_us.size(); ++p)
      CountBusy(report.processors[p], report.compute_us[p] * 1e-6);
  }

  void Tell(top::Figures& figures) override {
    const PoolStats stats = session_.pool_stats();
    top::ModelFigures& model = figures.models[0];
    if (stats.predicted_us > 0) model.predicted_s = stats.predicted_us * 1e-6;
    if (stats.usual_us > 0) model.measured_s = stats.usual_us * 1e-6;
    model.plans = double(stats.plans);
    model.retries = double(stats.retries);
    model.losses = double(stats.lost);
    figures.plan = stats.plan;
    for (const PoolStats::Part& part : stats.parts) {
      top::ProcessorFigures& processor = ProcessorAt(part.processor);
      processor.predicted_s = part.compute_us > 0 ? std::optional(part.compute_us * 1e-6) : std::nullopt;
      if (const int64_t bytes = part.weights_bytes + part.values_bytes; bytes > 0)
        processor.memory_bytes = double(bytes);
    }
  }

  const std::string home_;
  const Model model_;
  Session session_;
  const std::vector<Tensor> inputs_;
};

}  // namespace

std::unique_ptr<TopSource> MakeSessionSource(const TopFlags& flags, const Context& context) {
  if (flags.pool.given()) return std::make_unique<PoolSource>(flags, context);
  return std::make_unique<CpuSource>(flags, context);
}

}  // namespace mete::cli
