#include "run/time_graph.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "base/clock.h"
#include "base/error.h"

namespace mete {
namespace {

constexpr double kMostUs = 1e6;  // guess: VGG-16 on the slowest board is timed once
constexpr int64_t kPeriod =
    4093;  // values repeat after this number of them: a prime, so that rows differ. Guess

Tensor NewTensor(DType type, const Shape& shape, const MakeTensor& memory) {
  return memory ? memory(type, shape) : Tensor(type, shape);
}

}  // namespace

Tensor MadeUp(DType type, const Shape& shape, const MakeTensor& memory) {
  Tensor tensor = NewTensor(type, shape, memory);
  if (type != DType::kF32) return tensor;
  std::minstd_rand random(1);
  float* to = static_cast<float*>(tensor.mutable_view().data);
  const int64_t made = std::min(tensor.elements(), kPeriod);
  for (int64_t i = 0; i < made; ++i) to[i] = (float(random() % 2001) - 1000) * 1e-3f;
  for (int64_t i = made; i < tensor.elements(); i += made)
    std::copy_n(to, std::min(made, tensor.elements() - i), to + i);
  return tensor;
}

std::vector<Tensor> MadeUpInputs(const Graph& graph, std::span<const ValueId> ids, const MakeTensor& memory) {
  std::map<DType, int64_t> most;  // elements
  for (const ValueId id : ids) {
    int64_t& elements = most[graph.value(id).type];
    elements = std::max(elements, graph.value(id).shape.Elements());
  }
  std::map<DType, std::shared_ptr<const Tensor>> values;
  for (const auto& [type, elements] : most)
    values[type] = std::make_shared<const Tensor>(MadeUp(type, {elements}, memory));
  std::vector<Tensor> inputs;
  for (const ValueId id : ids) {
    const Value& value = graph.value(id);
    inputs.emplace_back(value.type, value.shape, values[value.type]->data(), values[value.type]);
  }
  return inputs;
}

namespace {

// Returns the caller's memory for the outputs whose shapes are known.
std::vector<Tensor> OutputsFor(const Graph& graph, const MakeTensor& memory) {
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs) {
    const Value& value = graph.value(id);
    const bool known = value.shape.known() && value.type != DType::kUnknown;
    outputs.push_back(known ? NewTensor(value.type, value.shape, memory) : Tensor());
  }
  return outputs;
}

}  // namespace

GraphTimes TimeRuns(Ready& ready, const Graph& graph, std::span<const Tensor> inputs, int runs, Turn& turn,
                    const CancelToken* cancel, const MakeTensor& memory) {
  std::vector<Tensor> outputs = OutputsFor(graph, memory);
  std::vector<ConstView> in;
  std::vector<View> out;
  for (const Tensor& input : inputs) in.push_back(input.view());
  for (Tensor& output : outputs) out.push_back(output.mutable_view());
  const auto check = [&] {
    if (cancel && cancel->cancelled()) Fail(Code::kCancelled, "timing", "was interrupted");
  };
  const auto run_once = [&](Trace* trace) {
    check();
    const Turn::Taken taken(turn, check);
    const int64_t start_ns = NowNs();
    ready.Run(in, out, {.cancel = cancel, .trace = trace});
    return double(NowNs() - start_ns) * 1e-3;
  };
  run_once(nullptr);
  GraphTimes times;
  Trace least;
  double all_us = 0;
  for (int run = 0; run == 0 || (run < runs && all_us < kMostUs); ++run) {
    Trace trace;
    times.us.push_back(run_once(&trace));
    all_us += times.us.back();
    if (run == 0) least = std::move(trace);
    else least.KeepLeast(trace);
  }
  for (const TraceEvent& event : least.events)
    if (!event.waits() && event.worker == 0)
      times.nodes.emplace_back(event.name, double(event.end_ns - event.start_ns) * 1e-3);
  return times;
}

}  // namespace mete
