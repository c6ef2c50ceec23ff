#include "quantize/answers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "passes/rewrite.h"
#include "quantize/insert.h"
#include "quantize/places.h"

namespace mete {
namespace {

constexpr double kNoError = 200;  // dB; f32 itself has less than 150

bool HasClasses(const Tensor& t) {
  const Shape& s = t.shape();
  return s.rank() >= 2 && s[0] > 0 && s[1] >= 2 && s.Elements(2, s.rank()) == 1;
}

// Returns scores of classes without their mean in each row, which a Softmax ignores; other tensors as they
// are.
Tensor Centred(const Tensor& t) {
  if (!HasClasses(t)) return t;
  Tensor out(DType::kF32, t.shape());
  const int64_t rows = t.shape()[0], classes = t.shape()[1];
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = t.as<float>() + r * classes;
    const double mean = std::accumulate(from, from + classes, 0.0) / double(classes);
    float* to = out.mutable_view().as<float>() + r * classes;
    for (int64_t i = 0; i < classes; ++i) to[i] = float(double(from[i]) - mean);
  }
  return out;
}

int64_t LargestOf(const float* scores, int64_t count) {
  return std::max_element(scores, scores + count) - scores;
}

// The value of a layer that other layers read: that behind a Relu or Clip which belongs to it.
ValueId ResultOf(const Graph& graph, const Uses& uses, const Node& node) {
  const ValueId out = node.outputs[0];
  if (!uses.OnlyReader(out)) return out;
  const Node& reader = graph.nodes[size_t(uses.readers[size_t(out)][0])];
  return IsOneOf(reader.op, {"Relu", "Clip"}) ? reader.outputs[0] : out;
}

}  // namespace

std::vector<ValueId> AnswerValues(const Graph& graph) {
  const Uses uses(graph);
  std::vector<ValueId> values;
  for (ValueId id : graph.outputs) {
    if (!IsF32(graph, id) || graph.value(id).is_constant()) continue;
    const int p = uses.producer[size_t(id)];
    if (p >= 0 && IsOneOf(graph.nodes[size_t(p)].op, {"Softmax", "LogSoftmax"}))
      id = graph.nodes[size_t(p)].inputs[0];
    if (std::find(values.begin(), values.end(), id) == values.end()) values.push_back(id);
  }
  return values;
}

Answers AnswersOf(const Graph& graph, const Samples& samples, const Runs& runs) {
  Answers answers;
  ForEachSample(graph, AnswerValues(graph), samples, runs, [&](size_t, std::span<const Tensor> tensors) {
    answers.emplace_back(tensors.begin(), tensors.end());
  });
  return answers;
}

bool HasAnswers(const Answers& answers) { return !answers.empty() && !answers[0].empty(); }

void SignalToNoise::Add(const Tensor& exact, const Tensor& other) {
  const auto *a = exact.as<float>(), *b = other.as<float>();
  const int64_t count = exact.elements();
  for (int64_t i = 0; i < count; ++i) {
    signal_ += double(a[i]) * double(a[i]);
    noise_ += (double(a[i]) - double(b[i])) * (double(a[i]) - double(b[i]));
  }
}

double SignalToNoise::db() const {
  if (!std::isfinite(signal_) || !std::isfinite(noise_)) return -kNoError;
  if (noise_ == 0) return kNoError;
  return signal_ == 0 ? -kNoError : std::min(kNoError, 10 * std::log10(signal_ / noise_));
}

double SignalToNoiseOf(const Answers& exact, const Answers& other) {
  SignalToNoise all;
  for (size_t i = 0; i < exact.size(); ++i)
    for (size_t k = 0; k < exact[i].size(); ++k) all.Add(Centred(exact[i][k]), Centred(other[i][k]));
  return all.db();
}

std::optional<Changed> ChangedClasses(const Answers& exact, const Answers& other) {
  if (!HasAnswers(exact)) return std::nullopt;
  Changed changed;
  for (size_t i = 0; i < exact.size(); ++i) {
    if (exact[i].empty() || !HasClasses(exact[i][0])) return std::nullopt;
    const int64_t rows = exact[i][0].shape()[0], classes = exact[i][0].shape()[1];
    for (int64_t r = 0; r < rows; ++r)
      changed.pictures += LargestOf(exact[i][0].as<float>() + r * classes, classes) !=
                          LargestOf(other[i][0].as<float>() + r * classes, classes);
    changed.of += rows;
  }
  return changed;
}

std::vector<LayerError> LayerErrors(const Graph& exact, const Graph& other, const Samples& samples,
                                    const Runs& runs) {
  const Uses uses(exact);
  std::map<std::string, ValueId> named;
  for (size_t i = 0; i < other.values.size(); ++i) named.emplace(other.values[i].name, ValueId(i));
  std::vector<LayerError> layers;
  std::vector<ValueId> values, others;
  for (const Node& node : exact.nodes) {
    if (!IsQuantizable(exact, node)) continue;
    const ValueId result = ResultOf(exact, uses, node);
    const std::string& name = exact.value(result).name;
    const auto bytes = named.find(DequantizedName(name));
    const auto at = bytes != named.end() ? bytes : named.find(name);
    if (at == named.end() || std::find(values.begin(), values.end(), result) != values.end()) continue;
    values.push_back(result);
    others.push_back(at->second);
    layers.push_back({node.name, node.op, bytes != named.end(), 0});
  }
  std::vector<SignalToNoise> errors(layers.size());
  const auto ready = PrepareFor(exact, values, runs), ready_other = PrepareFor(other, others, runs);
  for (size_t i = 0; i < samples.count; ++i) {
    if (runs.progress) runs.progress(i, samples.count);
    const std::vector<Tensor> inputs = samples.inputs(i);
    const std::vector<Tensor> a = ready->Run(inputs, {}), b = ready_other->Run(inputs, {});
    for (size_t k = 0; k < errors.size(); ++k) errors[k].Add(a[k], b[k]);
  }
  for (size_t k = 0; k < layers.size(); ++k) layers[k].db = errors[k].db();
  return layers;
}

Samples SomeOf(const Samples& samples, size_t most) {
  const size_t count = std::min(samples.count, most), all = samples.count;
  return {count, [=, inputs = samples.inputs](size_t i) { return inputs(i * all / count); }};
}

}  // namespace mete
