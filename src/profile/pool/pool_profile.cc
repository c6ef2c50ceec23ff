#include "profile/pool/pool_profile.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <numeric>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "plan/pool/layer_costs.h"
#include "run/local_member.h"
#include "run/time_graph.h"

namespace mete {
namespace {

constexpr std::chrono::milliseconds kProgress{100};
constexpr int kSteps = 8;                    // of a profile
constexpr int kWholeRuns = 11;               // of the model, twice; guess: a median within a percent or two
constexpr int kHalfRuns = 5;                 // of halves of its layers; guess: the least of each counts
constexpr std::chrono::minutes kTimeOut{5};  // of one graph; guess: VGG-16 prepared and run on a slow board

double Median(std::vector<double> us) {
  std::nth_element(us.begin(), us.begin() + ptrdiff_t(us.size() / 2), us.end());
  return us[us.size() / 2];
}

Graph TinyGraph() {
  Graph graph;
  graph.name = "tiny";
  const ValueId x = graph.AddValue("x", DType::kF32, {1, 16}), y = graph.AddValue("y", DType::kF32, {1, 16});
  graph.AddNode("Relu", "relu", {x}, {y});
  graph.inputs = {x};
  graph.outputs = {y};
  return graph;
}
const Graph kTiny = TinyGraph();

double Sum(const std::vector<double>& us) { return std::accumulate(us.begin(), us.end(), 0.0); }

// A processor of the pool as something that times graphs.
class TimedProcessor {
 public:
  // `member` null: the home itself.
  TimedProcessor(Processor& home, Member* member, const PoolProfileOptions& options)
      : home_(home), member_(member), options_(options) {}

  GraphTimes Time(const Graph& graph, int runs) {
    if (options_.cancel && options_.cancel->cancelled()) Fail(Code::kCancelled, "profile", "was interrupted");
    GraphTimes times = member_ ? member_->Time(graph, runs, kTimeOut)
                               : TimeOn(home_, graph, runs, turn_, options_.cancel, timed_);
    prepare_s_ += times.prepare_ms * 1e-3;
    return times;
  }
  double prepare_s() const { return prepare_s_; }

 private:
  Processor& home_;
  Member* const member_;
  const PoolProfileOptions& options_;
  Turn turn_;
  double prepare_s_ = 0;
  TimedGraph timed_;
};

// What single layers take on one processor. Three graphs, as preparing takes longer than running: the model,
// in which each layer is seen by itself, and halves of its layers by rows and by channels. What a request
// takes as a rule counts, not the least: that is what plans are to predict.
class LayersOn {
 public:
  LayersOn(Processor& home, Member* member, const PoolProfileOptions& options, const Graph& graph,
           const std::vector<Layer>& layers)
      : processor_(home, member, options), graph_(graph), layers_(layers) {}

  void TimeModel() {
    const GraphTimes times = processor_.Time(graph_, kWholeRuns);
    // what others do on a processor lasts for seconds
    if (whole_.us.empty() || Median(times.us) < Median(whole_.us)) whole_ = times;
  }

  // After the model.
  void TimeHalves() { TimeHalves(LayerGraphs(graph_).HalvesOf(LayersToHalve(layers_, ModelUs())), by_rows_); }
  void TimeHalvesByChannels() {
    TimeHalves(LayerGraphs(graph_).HalvesByChannelsOf(LayersToHalve(layers_, ModelUs())), by_channels_);
  }

  double prepare_s() const { return processor_.prepare_s(); }

  // A graph that computes next to nothing: what is left is the share's own time.
  void TimeShare() { share_us_ = Median(processor_.Time(kTiny, kWholeRuns).us); }
  double share_us() const { return share_us_; }

  std::vector<LayerCost> Costs() const {
    const std::vector<double> us = ModelUs();
    const double all_us = Sum(us),
                 slower = all_us > 0 ? std::max(0.0, Median(whole_.us) - share_us_) / all_us : 1;
    std::vector<LayerCost> costs;
    for (size_t l = 0; l < layers_.size(); ++l) {
      const double whole_us = slower * us[l];
      costs.push_back(CostThrough(whole_us, slower * by_rows_.us[l], by_rows_.parts[l]));
      if (by_channels_.parts[l] < 1)
        costs.back().least_by_channels_us =
            CostThrough(whole_us, slower * by_channels_.us[l], by_channels_.parts[l]).least_us;
    }
    return costs;
  }

 private:
  // What about half of each layer takes.
  struct HalfTimes {
    std::vector<double> us, parts;  // by layer; part 1: not measured
  };

  // Without what puts each half's input and output into another layout: within a group of layers there is
  // nothing of it.
  void TimeHalves(const LayerHalves& halves, HalfTimes& times) {
    GraphTimes measured;
    if (!halves.graph.nodes.empty()) measured = processor_.Time(halves.graph, kHalfRuns);
    times = {LayersUs(graph_, layers_, measured.nodes, NodesOfPasses::kDoNotCount), halves.parts};
  }

  std::vector<double> ModelUs() const {
    return LayersUs(graph_, layers_, whole_.nodes, NodesOfPasses::kCount);
  }

  TimedProcessor processor_;
  const Graph& graph_;
  const std::vector<Layer>& layers_;
  double share_us_ = 0;
  GraphTimes whole_;  // of the model, the shorter of those that were taken, some seconds apart
  HalfTimes by_rows_, by_channels_;
};

// The links of processors to what they share, from measurements between the first and each other one: what
// was measured to a processor is its own link, and the first takes nothing beside.
std::vector<LinkCosts> LinksOf(const std::vector<LinkProfile>& from_first) {
  std::vector<LinkCosts> links{{0, 0, 0, 0}};
  for (size_t d = 1; d < from_first.size(); ++d) {
    const LinkProfile& l = from_first[d];
    const double latency_us = std::max(0.0, l.round_trip_us / 2 - l.message_us);
    links.push_back({latency_us, l.message_us, l.down_mbit_per_s, l.up_mbit_per_s});
    links[0].up_mbit_per_s = std::max(links[0].up_mbit_per_s, l.up_mbit_per_s);
    links[0].down_mbit_per_s = std::max(links[0].down_mbit_per_s, l.down_mbit_per_s);
  }
  if (links.size() == 1) links[0].up_mbit_per_s = links[0].down_mbit_per_s = 1;  // nobody to send to
  return links;
}

// The members behind each address that has several: those of one worker. The home's are not among them.
std::vector<std::vector<size_t>> SameWorkers(const std::vector<Member*>& members) {
  std::map<std::string, std::vector<size_t>> by_address;
  for (size_t d = 0; d < members.size(); ++d)
    if (members[d] && !members[d]->address().empty()) by_address[members[d]->address()].push_back(d);
  std::vector<std::vector<size_t>> several;
  for (auto& [address, of_worker] : by_address)
    if (of_worker.size() > 1) several.push_back(std::move(of_worker));
  return several;
}

// Each worker measures its own hand-over, because its processors and memory are not those of the home.
void MeasureMemory(const std::vector<Member*>& members, const PoolProfileOptions& options, int done,
                   PoolCosts& costs) {
  for (const std::vector<size_t>& of_worker : SameWorkers(members)) {
    Member& first = *members[of_worker[0]];
    options.progress("the memory of " + first.host(), done, kSteps);
    std::vector<LinkProfile> from_first{{}};
    for (size_t i = 1; i < of_worker.size(); ++i)
      from_first.push_back(first.MeasureHandOver(*members[of_worker[i]]));
    const std::vector<LinkCosts> links = LinksOf(from_first);
    for (size_t i = 0; i < of_worker.size(); ++i)
      costs.processors[of_worker[i]].memory = MemoryLink{first.host(), links[i]};
  }
}

}  // namespace

std::string DigestOfText128(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string DigestOfGraph(const Graph& graph) { return DigestOfText128(ToText(graph)); }

PoolProfile ProfilePool(const Graph& graph, const std::vector<std::string>& names, Processor& home,
                        const std::vector<Member*>& members, const PoolProfileOptions& options) {
  const int64_t start_ns = NowNs();
  const std::vector<Layer> layers = LayersOf(graph);
  std::deque<LayersOn> processors;
  for (Member* member : members) processors.emplace_back(home, member, options, graph, layers);
  std::vector<LinkProfile> links(members.size());
  int done = 0;
  // On all processors at the same time, as they compute together.
  const auto on_processors = [&](void (LayersOn::*time)()) {
    std::vector<std::future<void>> timed;
    for (LayersOn& processor : processors) timed.push_back(std::async(std::launch::async, time, &processor));
    for (auto& processor : timed)
      while (processor.wait_for(kProgress) == std::future_status::timeout)
        options.progress("layers on all processors", done, kSteps);
    for (auto& processor : timed) processor.get();
    ++done;
  };
  // One after the other.
  const auto on_links = [&](const std::function<void(Member&, LinkProfile&)>& measure) {
    const AdoptedThread adopted(home);
    for (size_t d = 0; d < members.size(); ++d) {
      if (!members[d]) continue;
      options.progress("the link to " + members[d]->name(), done, kSteps);
      measure(*members[d], links[d]);
    }
    ++done;
  };
  on_processors(&LayersOn::TimeModel);
  on_processors(&LayersOn::TimeShare);
  on_links([](Member& member, LinkProfile& link) { link = MeasureLink(*member.OpenEcho()); });
  on_processors(&LayersOn::TimeModel);
  on_processors(&LayersOn::TimeHalves);
  on_processors(&LayersOn::TimeHalvesByChannels);
  on_links([&](Member& member, LinkProfile& link) { MeasureBusyLink(member, home, link); });
  PoolProfile profile{graph.name, DigestOfGraph(graph), links, {}, 0, 0};
  const std::vector<LinkCosts> to_home = LinksOf(links);
  for (size_t d = 0; d < processors.size(); ++d) {
    profile.costs.processors.push_back({names[d], to_home[d], processors[d].Costs()});
    profile.costs.processors[d].share_us = processors[d].share_us();
    profile.prepare_seconds = std::max(profile.prepare_seconds, processors[d].prepare_s());
  }
  MeasureMemory(members, options, done, profile.costs);
  profile.seconds = double(NowNs() - start_ns) * 1e-9;
  Verify(profile.costs, layers.size());
  return profile;
}

std::vector<LinkProfile> ProfileLinks(Processor& home, const std::vector<Member*>& members,
                                      const PoolProfileOptions& options) {
  std::vector<LinkProfile> links(members.size());
  const auto check = [&] {
    if (options.cancel && options.cancel->cancelled()) Fail(Code::kCancelled, "profile", "was interrupted");
  };
  const AdoptedThread adopted(home);
  for (size_t d = 0; d < members.size(); ++d) {
    if (!members[d]) continue;
    options.progress("the link to " + members[d]->name(), int(d), int(members.size()));
    links[d] = MeasureLink(*members[d]->OpenEcho());
    check();
    MeasureBusyLink(*members[d], home, links[d]);
    check();
  }
  return links;
}

}  // namespace mete
