#include "profile/devices/pool_profile.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "engine/model.h"
#include "mete/statistics.h"
#include "plan/devices/layer_costs.h"
#include "run/devices/time_graph.h"

namespace mete {
namespace {

constexpr double kSmallLayer = 0.003;  // of the model's time: how a smaller layer divides is not measured but taken to be not at all. Guess
constexpr std::chrono::minutes kTimeOut{5};  // of one graph; guess: VGG-16 prepared and run on a slow board

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// One device, here or elsewhere, as something that times graphs.
class Device {
 public:
  Device(RemoteDevice* remote, const PoolProfileOptions& options) : remote_(remote), options_(options) {}

  GraphTimes Time(const Graph& graph) {
    if (options_.cancel && options_.cancel->cancelled()) Fail(Code::kCancelled, "profile", "was interrupted");
    ++graphs_;
    if (!remote_) return TimeHere(graph);
    RemoteDevice::Timing timing = remote_->Time(graph, options_.runs, kTimeOut);
    return {std::move(timing.us), std::move(timing.nodes)};
  }
  int graphs() const { return graphs_; }

 private:
  GraphTimes TimeHere(const Graph& graph) {
    std::vector<Tensor> inputs;
    for (const ValueId id : graph.inputs) inputs.push_back(MadeUp(graph.value(id).type, graph.value(id).shape));
    Session session(ModelOf(graph), options_.session);
    return TimeRuns(session, inputs, options_.runs, [&] { return options_.cancel && options_.cancel->cancelled(); });
  }

  RemoteDevice* const remote_;
  const PoolProfileOptions& options_;
  int graphs_ = 0;
};

// The time of each layer within the whole model: passes have fused nodes, and put new ones between them, which count for the layer before.
std::vector<double> LayerUs(const Graph& graph, const std::vector<Layer>& layers, const GraphTimes& whole) {
  std::map<std::string, size_t> layer_of;
  for (size_t l = 0; l < layers.size(); ++l)
    for (int n = layers[l].begin; n < layers[l].end; ++n) layer_of[graph.nodes[size_t(n)].name] = l;
  std::vector<double> us(layers.size(), 0);
  size_t at = 0;
  double all = 0;
  for (const auto& [name, node_us] : whole.nodes) {
    if (const auto known = layer_of.find(name); known != layer_of.end()) at = known->second;
    us[at] += node_us;
    all += node_us;
  }
  if (all > 0)
    for (double& u : us) u *= Median(whole.us) / all;  // the least of each node are less than a run
  return us;
}

std::vector<LayerCost> LayersOn(Device& device, const Graph& graph, const std::vector<Layer>& layers,
                                const std::function<void(int)>& progress) {
  const GraphTimes whole = device.Time(graph);
  const std::vector<double> us = LayerUs(graph, layers, whole);
  const LayerGraphs graphs(graph);
  std::vector<LayerCost> costs;
  for (size_t l = 0; l < layers.size(); ++l) {
    costs.push_back({us[l], us[l]});
    if (us[l] > kSmallLayer * Median(whole.us)) {
      const LayerCost alone = graphs.CostOf(layers[l], [&](const Graph& g) { return Median(device.Time(g).us); });
      if (alone.us > 0) costs.back().least_us = us[l] * std::min(1.0, alone.least_us / alone.us);
    }
    progress(int(l) + 1);
  }
  return costs;
}

// The caller's own link is what all others share; of each device what was measured to it is its own.
PoolCosts CostsOf(const std::vector<std::string>& names, const std::vector<LinkProfile>& links) {
  PoolCosts costs;
  for (size_t d = 0; d < names.size(); ++d) {
    const LinkProfile& l = links[d];
    costs.devices.push_back({names[d], {std::max(0.0, l.round_trip_us / 2 - l.message_us), l.message_us, l.down_mbit_per_s, l.up_mbit_per_s}, {}});
  }
  LinkCosts& own = costs.devices[0].link;
  own = {0, 0, 0, 0};
  for (size_t d = 1; d < links.size(); ++d) {
    own.up_mbit_per_s = std::max(own.up_mbit_per_s, links[d].up_mbit_per_s);
    own.down_mbit_per_s = std::max(own.down_mbit_per_s, links[d].down_mbit_per_s);
  }
  if (links.size() == 1) own.up_mbit_per_s = own.down_mbit_per_s = 1;  // nobody to send to
  return costs;
}

}  // namespace

std::string DigestOfGraph(const Graph& graph) {
  std::string text = ToText(graph);
  return ToHex(DigestOf({text.data(), DType::kU8, Shape{int64_t(text.size())}}));
}

PoolProfile ProfilePool(const Graph& graph, const std::vector<std::string>& names, const std::vector<RemoteDevice*>& remotes,
                        const PoolProfileOptions& options) {
  const int64_t start_ns = NowNs();
  PoolProfile profile{graph.name, DigestOfGraph(graph), {}, {}, 0, 0};
  for (RemoteDevice* remote : remotes) profile.links.push_back(remote ? ProfileLink(*remote, options) : LinkProfile{});
  profile.costs = CostsOf(names, profile.links);
  const std::vector<Layer> layers = LayersOf(graph);
  for (size_t d = 0; d < remotes.size(); ++d) {
    Device device(remotes[d], options);
    profile.costs.devices[d].layers =
        LayersOn(device, graph, layers, [&](int done) { options.progress("layers on " + names[d], done, int(layers.size())); });
    profile.graphs += device.graphs();
  }
  profile.seconds = double(NowNs() - start_ns) * 1e-9;
  Verify(profile.costs, layers.size());
  return profile;
}

}  // namespace mete
