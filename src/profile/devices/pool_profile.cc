#include "profile/devices/pool_profile.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <numeric>

#include "base/clock.h"
#include "base/error.h"
#include "engine/model.h"
#include "plan/devices/layer_costs.h"
#include "run/devices/time_graph.h"

namespace mete {
namespace {

constexpr std::chrono::milliseconds kProgress{100};
constexpr size_t kGraphs = 3;  // that are timed on a device
constexpr double kSmallLayer = 0.003;  // of the model's time: how a smaller layer divides is not measured but taken to be not at all. Guess
constexpr int kWholeRuns = 11;  // of the model, twice; guess: a median within a percent or two
constexpr int kHalfRuns = 5;    // of halves of its layers; guess: the least of each counts
constexpr std::chrono::minutes kTimeOut{5};  // of one graph; guess: VGG-16 prepared and run on a slow board

double Median(std::vector<double> us) {
  std::nth_element(us.begin(), us.begin() + ptrdiff_t(us.size() / 2), us.end());
  return us[us.size() / 2];
}

double Sum(const std::vector<double>& us) { return std::accumulate(us.begin(), us.end(), 0.0); }

// One device, here or elsewhere, as something that times graphs.
class Device {
 public:
  Device(RemoteDevice* remote, const PoolProfileOptions& options) : remote_(remote), options_(options) {}

  GraphTimes Time(const Graph& graph, int runs) {
    if (options_.cancel && options_.cancel->cancelled()) Fail(Code::kCancelled, "profile", "was interrupted");
    ++graphs_;
    if (!remote_) return TimeHere(graph, runs);
    return remote_->Time(graph, runs, kTimeOut, &digests_);
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
  DigestMemo digests_;
  Turn turn_;
  int graphs_ = 0;
};

// Of each layer the sum of its nodes' least times. Nodes that passes have made count for the layer before, or not at all.
std::vector<double> LayerUs(const Graph& graph, const std::vector<Layer>& layers, const GraphTimes& times, bool count_made) {
  std::map<std::string, size_t> layer_of;
  for (size_t l = 0; l < layers.size(); ++l)
    for (int n = layers[l].begin; n < layers[l].end; ++n) layer_of[graph.nodes[size_t(n)].name] = l;
  std::vector<double> us(layers.size(), 0);
  size_t at = 0;
  for (const auto& [name, node_us] : times.nodes) {
    const auto known = layer_of.find(name);
    if (known != layer_of.end()) at = known->second;
    if (known != layer_of.end() || count_made) us[at] += node_us;
  }
  return us;
}

// Those that take more than a little of the model's time, each where it was in the list; the others are empty.
std::vector<Layer> LargeOnes(std::vector<Layer> layers, const std::vector<double>& us) {
  const double all_us = Sum(us);
  for (size_t l = 0; l < layers.size(); ++l)
    if (us[l] <= kSmallLayer * all_us) layers[l].end = layers[l].begin;
  return layers;
}

// Of the same graph, some seconds apart: what others do on a device lasts as long.
GraphTimes Shorter(GraphTimes a, GraphTimes b) { return Median(b.us) < Median(a.us) ? b : a; }

// Two graphs, as preparing takes longer than running: the model, in which each layer is seen by itself, and halves of its layers. What a
// request takes as a rule counts, not the least: that is what plans are to predict.
std::vector<LayerCost> LayersOn(Device& device, const Graph& graph, const std::vector<Layer>& layers,
                                const std::function<void()>& progress) {
  const auto time = [&](const Graph& g, int runs) {
    GraphTimes times = g.nodes.empty() ? GraphTimes{} : device.Time(g, runs);
    progress();
    return times;
  };
  const GraphTimes first = time(graph, kWholeRuns);
  const std::vector<double> first_us = LayerUs(graph, layers, first, true);
  const LayerHalves halves = LayerGraphs(graph).HalvesOf(LargeOnes(layers, first_us));
  // Without what puts each half's input and output into another layout: within a group of layers there is nothing of it.
  const std::vector<double> half_us = LayerUs(graph, layers, time(halves.graph, kHalfRuns), false);
  const GraphTimes whole = Shorter(first, time(graph, kWholeRuns));
  const std::vector<double> us = LayerUs(graph, layers, whole, true);
  const double all_us = Sum(us), slower = all_us > 0 ? Median(whole.us) / all_us : 1;
  std::vector<LayerCost> costs;
  for (size_t l = 0; l < layers.size(); ++l) costs.push_back(CostThrough(slower * us[l], slower * half_us[l], halves.parts[l]));
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
      options.progress("layers on all devices", done, int(kGraphs * remotes.size()));
    profile.costs.devices[d].layers = measured[d].get();
  }
  profile.graphs = graphs;
  profile.seconds = double(NowNs() - start_ns) * 1e-9;
  Verify(profile.costs, layers.size());
  return profile;
}

}  // namespace mete
