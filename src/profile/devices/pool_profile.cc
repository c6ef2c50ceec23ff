#include "profile/devices/pool_profile.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>

#include "base/clock.h"
#include "base/error.h"
#include "engine/model.h"
#include "plan/devices/layer_costs.h"
#include "run/devices/time_graph.h"

namespace mete {
namespace {

constexpr std::chrono::milliseconds kProgress{100};
constexpr double kSmallLayer = 0.003;  // of the model's time: how a smaller layer divides is not measured but taken to be not at all. Guess
constexpr int kWholeRuns = 5, kLayerRuns = 3;  // of each graph; the least counts. Guess: of a layer only the ratio to its half is used
constexpr std::chrono::minutes kTimeOut{5};  // of one graph; guess: VGG-16 prepared and run on a slow board

// What others do on a device only makes times longer.
double Least(const std::vector<double>& us) { return *std::min_element(us.begin(), us.end()); }

// One device, here or elsewhere, as something that times graphs.
class Device {
 public:
  Device(RemoteDevice* remote, const PoolProfileOptions& options) : remote_(remote), options_(options) {}

  GraphTimes Time(const Graph& graph, int runs) {
    if (options_.cancel && options_.cancel->cancelled()) Fail(Code::kCancelled, "profile", "was interrupted");
    ++graphs_;
    if (!remote_) return TimeHere(graph, runs);
    return remote_->Time(graph, runs, kTimeOut);
  }
  int graphs() const { return graphs_; }

 private:
  GraphTimes TimeHere(const Graph& graph, int runs) {
    const std::vector<Tensor> inputs = MadeUpInputs(graph, graph.inputs);
    Session session(ModelOf(graph), options_.session);
    return TimeRuns(session, inputs, runs, turn_, options_.cancel);
  }

  RemoteDevice* const remote_;
  const PoolProfileOptions& options_;
  Turn turn_;
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
    for (double& u : us) u *= Least(whole.us) / all;  // the least of each node are less than a run
  return us;
}

// The shorter one of two times of the same graph, some seconds apart.
GraphTimes Shorter(GraphTimes a, GraphTimes b) { return Least(b.us) < Least(a.us) ? b : a; }

std::vector<LayerCost> LayersOn(Device& device, const Graph& graph, const std::vector<Layer>& layers,
                                const std::function<void()>& progress) {
  GraphTimes whole = device.Time(graph, kWholeRuns);
  const std::vector<double> first_us = LayerUs(graph, layers, whole);
  const LayerGraphs graphs(graph);
  std::vector<double> divisible(layers.size(), 0);  // of each layer, what does not stay however few rows there are
  for (size_t l = 0; l < layers.size(); ++l) {
    if (first_us[l] > kSmallLayer * Least(whole.us)) {
      const LayerCost alone = graphs.CostOf(layers[l], [&](const Graph& g) { return Least(device.Time(g, kLayerRuns).us); });
      if (alone.us > 0) divisible[l] = 1 - alone.least_us / alone.us;
    }
    progress();
  }
  whole = Shorter(std::move(whole), device.Time(graph, kWholeRuns));
  const std::vector<double> us = LayerUs(graph, layers, whole);
  std::vector<LayerCost> costs;
  for (size_t l = 0; l < layers.size(); ++l) costs.push_back({us[l], us[l] * (1 - divisible[l])});
  return costs;
}

// The caller's own link is what all others share; of each device what was measured to it is its own.
PoolCosts CostsOf(const std::vector<std::string>& names, const std::vector<LinkProfile>& links) {
  PoolCosts costs;
  for (size_t d = 0; d < names.size(); ++d) {
    const LinkProfile& l = links[d];
    const double latency_us = std::max(0.0, l.round_trip_us / 2 - l.message_us);
    costs.devices.push_back({names[d], {latency_us, l.message_us, l.down_mbit_per_s, l.up_mbit_per_s}, {}});
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

std::string DigestOfGraph(const Graph& graph) { return ToHex(DigestOfText(ToText(graph))); }

PoolProfile ProfilePool(const Graph& graph, const std::vector<std::string>& names, const std::vector<RemoteDevice*>& remotes,
                        const PoolProfileOptions& options) {
  const int64_t start_ns = NowNs();
  PoolProfile profile{graph.name, DigestOfGraph(graph), {}, {}, 0, 0};
  for (RemoteDevice* remote : remotes) profile.links.push_back(remote ? ProfileLink(*remote, options) : LinkProfile{});
  profile.costs = CostsOf(names, profile.links);
  const std::vector<Layer> layers = LayersOf(graph);
  std::atomic<int> done{0}, graphs{0};
  std::vector<std::future<std::vector<LayerCost>>> measured;  // each device by itself, all at the same time
  for (size_t d = 0; d < remotes.size(); ++d)
    measured.push_back(std::async(std::launch::async, [&, d] {
      Device device(remotes[d], options);
      std::vector<LayerCost> costs = LayersOn(device, graph, layers, [&] { ++done; });
      graphs += device.graphs();
      return costs;
    }));
  for (size_t d = 0; d < remotes.size(); ++d) {
    while (measured[d].wait_for(kProgress) == std::future_status::timeout)
      options.progress("layers on all devices", done, int(layers.size() * remotes.size()));
    profile.costs.devices[d].layers = measured[d].get();
  }
  profile.graphs = graphs;
  profile.seconds = double(NowNs() - start_ns) * 1e-9;
  Verify(profile.costs, layers.size());
  return profile;
}

}  // namespace mete
