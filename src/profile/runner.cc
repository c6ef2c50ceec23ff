#include "profile/runner.h"

#include <algorithm>

namespace mete {
namespace {

KernelOptions OptionsOf(const TimedCore& core, ConvAlgorithm conv) {
  KernelOptions options;
  options.cores = {core.number};
  if (core.speed < 1) options.speeds = {core.speed};
  options.dispatch.conv = conv;
  return options;
}

}  // namespace

Tensor InputFor(const Port& port) {
  Tensor t(port.type, port.shape);
  if (port.type != DType::kF32) return t;
  float* values = t.mutable_view().as<float>();
  for (int64_t i = 0; i < t.elements(); ++i) values[i] = float(i * 7919 % 255) / 255;
  return t;
}

Runner::Runner(const Model& model, const Machine& machine, const TimedCore& core, ConvAlgorithm conv)
    : model_(model),
      plan_(PlanOneCpu(GraphOf(model_), machine, {1, {core.number}, {}, "equal"})),
      cpu_(OptionsOf(core, conv)),
      executor_(GraphOf(model_), plan_, cpu_) {
  for (const Port& port : model_.inputs()) inputs_.push_back(InputFor(port));
  for (const Port& port : model_.outputs()) outputs_.emplace_back(port.type, port.shape);
  for (const Tensor& t : inputs_) in_.push_back(t.view());
  for (Tensor& t : outputs_) out_.push_back(t.mutable_view());
}

void Runner::Run() {
  constexpr int kCounted = 3;  // this value is a guess: more runs would find the machine in the same state
  executor_.Run(in_, out_, {});
  for (int i = 0; i < kCounted; ++i) {
    Trace trace;
    executor_.Run(in_, out_, {.trace = &trace});
    for (const TraceEvent& e : trace.events) {
      if (e.waits() || e.worker != 0) continue;
      const double ns = double(e.end_ns - e.start_ns);
      const auto [at, first] = least_ns_.emplace(e.name, ns);
      if (!first) at->second = std::min(at->second, ns);
    }
  }
}

std::vector<Runner::Timed> Runner::Times() const {
  std::vector<Timed> times;
  const std::vector<StepInfo> steps = executor_.Steps({});
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto least = least_ns_.find(steps[i].node);
    times.push_back({&graph().nodes[i], steps[i].kernel, least == least_ns_.end() ? 0 : least->second});
  }
  return times;
}

double Runner::SumNs() const {
  double sum = 0;
  for (const auto& [node, ns] : least_ns_) sum += ns;
  return sum;
}

}  // namespace mete
