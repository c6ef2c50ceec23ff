#include "plan/site/cut_model.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace mete {
namespace {

std::optional<int64_t> BytesOf(const Value& value) {
  if (!value.shape.known()) return std::nullopt;
  return value.shape.Elements() * int64_t(SizeOf(value.type));
}

// Returns, for each value, the layer that makes it; -1 for inputs and constants.
std::vector<int> Producers(const Graph& graph, const std::vector<Layer>& layers) {
  std::vector<int> producers(graph.values.size(), -1);
  for (size_t l = 0; l < layers.size(); ++l)
    for (int n = layers[l].begin; n < layers[l].end; ++n)
      for (const ValueId id : graph.nodes[size_t(n)].outputs)
        if (id != kNoValue) producers[size_t(id)] = int(l);
  return producers;
}

// Returns, for each value, the layers other than its producer that read it.
std::vector<std::set<int>> Readers(const Graph& graph, const std::vector<Layer>& layers,
                                   const std::vector<int>& producers) {
  std::vector<std::set<int>> readers(graph.values.size());
  for (size_t l = 0; l < layers.size(); ++l)
    for (int n = layers[l].begin; n < layers[l].end; ++n)
      for (const ValueId id : graph.nodes[size_t(n)].inputs)
        if (id != kNoValue && producers[size_t(id)] != int(l)) readers[size_t(id)].insert(int(l));
  return readers;
}

// A constant that several layers read counts for the first one.
std::vector<double> WeightsOf(const Graph& graph, const std::vector<std::set<int>>& readers, size_t layers) {
  std::vector<double> weights(layers, 0);
  double all = 0;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    if (!graph.values[id].is_constant() || readers[id].empty()) continue;
    const double bytes = double(BytesOf(graph.values[id]).value_or(0));
    weights[size_t(*readers[id].begin())] += bytes;
    all += bytes;
  }
  for (double& weight : weights) weight = all > 0 ? weight / all : 0;
  return weights;
}

}  // namespace

CutModel::CutModel(const Graph& graph) : layers(LayersOf(graph)) {
  const std::vector<int> producers = Producers(graph, layers);
  const std::vector<std::set<int>> readers = Readers(graph, layers, producers);
  weights = WeightsOf(graph, readers, layers.size());
  const std::set<ValueId> inputs(graph.inputs.begin(), graph.inputs.end()),
      outputs(graph.outputs.begin(), graph.outputs.end());
  std::vector<bool> reads(layers.size(), false), is_read(layers.size(), false);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const int producer = producers[id];
    const bool is_answer = producer >= 0 && outputs.contains(ValueId(id));
    if (producer < 0 && !inputs.contains(ValueId(id))) continue;  // a constant
    if (readers[id].empty() && !is_answer) continue;
    values.push_back({ValueId(id),
                      producer,
                      {readers[id].begin(), readers[id].end()},
                      BytesOf(graph.values[id]),
                      is_answer});
    if (producer < 0) continue;
    for (const int reader : readers[id]) reads[size_t(reader)] = true;
    is_read[size_t(producer)] = is_read[size_t(producer)] || !readers[id].empty();
  }
  for (size_t l = 0; l < layers.size(); ++l) {
    if (!reads[l]) firsts.push_back(int(l));
    if (!is_read[l]) lasts.push_back(int(l));
  }
}

Sent SentBy(const CutModel& model, const OnDevice& on_device, int64_t input_bytes) {
  Sent sent;
  for (const CutValue& value : model.values) {
    const bool here = value.producer < 0 || on_device[size_t(value.producer)];
    const auto reads = [&](bool device) {
      return std::any_of(value.readers.begin(), value.readers.end(),
                         [&](int r) { return on_device[size_t(r)] == device; });
    };
    if (!here && reads(true)) sent.possible = false;
    const bool is_input = value.producer < 0, up = here && reads(false), down = !here && value.is_answer;
    sent.input |= is_input && up;
    if ((up || down) && !(is_input && input_bytes > 0)) sent.possible &= value.bytes.has_value();
    if (up && !(is_input && input_bytes > 0)) sent.up_bytes += value.bytes.value_or(0);
    if (down) sent.down_bytes += value.bytes.value_or(0);
  }
  if (sent.input) sent.up_bytes += input_bytes;
  return sent;
}

std::vector<OnDevice> Prefixes(const CutModel& model) {
  std::vector<OnDevice> prefixes;
  for (size_t cut = 1; cut < model.layers.size(); ++cut) {
    OnDevice& on_device = prefixes.emplace_back(model.layers.size(), false);
    std::fill_n(on_device.begin(), ptrdiff_t(cut), true);
  }
  return prefixes;
}

void CheckCut(const CutModel& model, const OnDevice& on_device) {
  if (on_device.size() != model.layers.size())
    Invalid("cut", "is of another model; got {} layers, expected {}", on_device.size(), model.layers.size());
  for (const CutValue& value : model.values) {
    if (value.producer < 0 || on_device[size_t(value.producer)]) continue;
    for (const int reader : value.readers)
      if (on_device[size_t(reader)])
        Invalid("cut",
                "the device's layer '{}' reads what the server's layer '{}' makes; expected data from the "
                "device to the server alone",
                model.layers[size_t(reader)].name, model.layers[size_t(value.producer)].name);
  }
}

}  // namespace mete
