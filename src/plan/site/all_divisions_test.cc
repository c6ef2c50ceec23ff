// Plans for a site beside all divisions of small graphs, and beside Neurosurgeon.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "partition/random_graphs_testing.h"
#include "plan/pool/named.h"
#include "plan/pool/regression.h"
#include "plan/site/plan_site.h"
#include "plan/site/ways.h"
#include "plan/site/site_costs_testing.h"

namespace mete {
namespace {

// The best of all divisions, counted node by node.
class AllDivisions {
 public:
  AllDivisions(const Graph& graph, const SiteCosts& costs)
      : graph_(graph), costs_(costs), uses_(graph), layers_(LayersOf(graph)), layer_of_(graph.nodes.size()) {
    for (size_t l = 0; l < layers_.size(); ++l)
      for (int n = layers_[l].begin; n < layers_[l].end; ++n) layer_of_[size_t(n)] = int(l);
    for (unsigned device = 0; device < 1u << layers_.size(); ++device) Count(device);
  }

  double least_ms = INFINITY, least_joules = INFINITY, least_period_ms = INFINITY;
  std::vector<std::pair<double, double>> late_ms_and_joules;

 private:
  void Count(unsigned device) {
    const auto here = [&](int node) { return node < 0 || (device >> layer_of_[size_t(node)] & 1) != 0; };
    int64_t up = 0, down = 0;
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      if (graph_.values[v].is_constant()) continue;
      const int producer = uses_.producer[v];
      bool sent = false;
      for (const int reader : uses_.readers[v]) {
        if (!here(producer) && here(reader)) return;
        sent = sent || (here(producer) && !here(reader));
      }
      const int64_t bytes = graph_.values[v].shape.Elements() * 4;
      up += sent ? bytes : 0;
      down += uses_.is_output[v] && !here(producer) ? bytes : 0;
    }
    const unsigned all = (1u << layers_.size()) - 1;
    const ProcessorCosts &phone = costs_.pool.processors[0], &server = costs_.pool.processors[1];
    double device_us = device ? phone.share_us : 0, server_us = device != all ? server.share_us : 0;
    for (size_t l = 0; l < layers_.size(); ++l)
      (device >> l & 1 ? device_us : server_us) += (device >> l & 1 ? phone : server).layers[l].us;
    Division division{.device_ms = device_us * 1e-3,
                      .server_ms = server_us * 1e-3,
                      .up_bytes = up,
                      .down_bytes = down,
                      .asks_server = device != all};
    if (device)
      division.load_ms =
          costs_.loads[0]->least_ms + (costs_.loads[0]->ms - costs_.loads[0]->least_ms) * WeightsOf(device);
    if (!costs_.photo) return Rate(division);
    const PhotoCosts& photo = *costs_.photo;
    division.device_picture_ms = *photo.device.decode_ms + *photo.device.scale_ms;
    const std::vector<int>& readers = uses_.readers[size_t(graph_.inputs[0])];
    if (std::any_of(readers.begin(), readers.end(), [&](int reader) { return !here(reader); })) {
      division.up_bytes += photo.scaled_bytes - graph_.value(graph_.inputs[0]).shape.Elements() * 4;
      division.device_picture_ms += *photo.device.encode_scaled_ms;
      division.server_picture_ms = *photo.server.decode_scaled_ms;
    }
    Rate(division);
    if (device) return;
    division.up_bytes = photo.file_bytes;  // or raw
    division.device_picture_ms = 0;
    division.server_picture_ms = *photo.server.decode_ms + *photo.server.scale_ms;
    Rate(division);
  }

  // The part of the weights' bytes that layers on the device read, each constant in the first layer that
  // reads it.
  double WeightsOf(unsigned device) const {
    double all = 0, on_device = 0;
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      if (!graph_.values[v].is_constant() || uses_.readers[v].empty()) continue;
      const auto bytes = double(graph_.values[v].constant.view().bytes());
      all += bytes;
      if (device >> layer_of_[size_t(uses_.readers[v][0])] & 1) on_device += bytes;
    }
    const bool is_all = device == (1u << layers_.size()) - 1;
    return is_all ? 1 : all > 0 ? on_device / all : 0;
  }

  struct Division {
    double load_ms = 0, device_picture_ms = 0, server_picture_ms = 0, device_ms = 0, server_ms = 0;
    int64_t up_bytes = 0, down_bytes = 0;
    bool asks_server = true;
  };

  void Rate(const Division& d) {
    const NetworkLink& link = costs_.link;
    const double exchange_ms =
                     d.asks_server ? ExchangeMs(link, d.up_bytes, d.down_bytes, costs_.connection) : 0,
                 busy_ms = d.load_ms + d.device_picture_ms + d.device_ms,
                 ms = busy_ms + d.server_picture_ms + d.server_ms + exchange_ms +
                      (d.asks_server ? costs_.server_wait_ms : 0);
    const PowerCosts power = *costs_.pool.processors[0].power;
    const double joules = power.idle_w * ms * 1e-3 + power.compute_w * busy_ms * 1e-3 +
                          power.sent_joules_per_byte * double(d.up_bytes) +
                          power.received_joules_per_byte * double(d.down_bytes);
    least_ms = std::min(least_ms, ms);
    least_joules = std::min(least_joules, joules);
    late_ms_and_joules.emplace_back(ms + (link.late_ratio - 1) * exchange_ms, joules);
    least_period_ms = std::min(least_period_ms,
                               std::max({d.device_picture_ms + d.device_ms, d.server_picture_ms + d.server_ms,
                                         double(d.up_bytes) * 8e-3 / link.up_mbit_per_s,
                                         double(d.down_bytes) * 8e-3 / link.down_mbit_per_s}));
  }

  const Graph& graph_;
  const SiteCosts& costs_;
  const Uses uses_;
  const std::vector<Layer> layers_;
  std::vector<int> layer_of_;
};

PhotoCosts RandomPhoto(RandomGraph& random) {
  const auto ms = [&] { return 0.1 * double(random.Pick(0, 10)); };
  PhotoCosts photo{.file_bytes = random.Pick(500, 20'000), .scaled_bytes = random.Pick(100, 2'000)};
  photo.device = {.decode_ms = ms(), .scale_ms = ms(), .encode_scaled_ms = ms(), .decode_scaled_ms = {}};
  photo.server = {.decode_ms = ms(), .scale_ms = ms(), .encode_scaled_ms = {}, .decode_scaled_ms = ms()};
  return photo;
}

SiteCosts RandomSite(RandomGraph& random) {
  const size_t layers = LayersOf(random.graph).size();
  SiteCosts costs;
  ProcessorCosts phone{"phone", kNoLink, {}}, server{"server", kNoLink, {}};
  for (size_t l = 0; l < layers; ++l) {
    phone.layers.push_back({double(random.Pick(100, 3000)), 0});
    server.layers.push_back({double(random.Pick(50, 1000)), 0});
  }
  phone.share_us = double(random.Pick(0, 1) * 100);
  server.share_us = double(random.Pick(0, 1) * 100);
  phone.power = PowerCosts{0.1 * double(random.Pick(0, 10)), double(random.Pick(1, 3)),
                           1e-8 * double(random.Pick(0, 50)), 1e-8 * double(random.Pick(0, 50))};
  costs.pool.processors = {phone};
  AddServer(costs, server,
            {.round_trip_ms = 0.1 * double(random.Pick(0, 10)),
             .up_mbit_per_s = double(random.Pick(5, 100)),
             .down_mbit_per_s = double(random.Pick(20, 200)),
             .late_ratio = 1 + 0.1 * double(random.Pick(0, 10))});
  costs.server_wait_ms = 0.1 * double(random.Pick(0, 10));
  costs.loads[0] = LoadCost{0.1 * double(random.Pick(3, 20)), 0.1 * double(random.Pick(0, 3))};
  if (random.Pick(0, 2) == 0) costs.photo = RandomPhoto(random);
  return costs;
}

bool IsPrefix(const OnDevice& on_device) { return std::is_sorted(on_device.rbegin(), on_device.rend()); }

// Calls `check` with graphs of at most twelve layers, with branches and values with several readers, and with
// all of their divisions.
template <class F>
void ForRandomSites(uint32_t seeds, F check) {
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 14) + 2);
    if (LayersOf(random.graph).size() > 12) continue;
    SiteCosts costs = RandomSite(random);
    check(random, costs);
  }
}

TEST(PlanSite, HasTheLeastTimeOfAllDivisions) {
  int cuts = 0, branching = 0, alone = 0;
  ForRandomSites(1000, [&](RandomGraph& random, const SiteCosts& costs) {
    const SitePlan plan = PlanSite(random.graph, costs);
    EXPECT_NEAR(plan.way().steps.total_ms(), AllDivisions(random.graph, costs).least_ms, 1e-6)
        << ToText(random.graph);
    cuts += plan.choice == SiteCandidate::kCut;
    branching += plan.choice == SiteCandidate::kCut && !IsPrefix(plan.way().on_device);
    alone += plan.choice == SiteCandidate::kDevice;
  });
  EXPECT_GT(cuts, 50);
  EXPECT_GT(branching, 5);
  EXPECT_GT(alone, 20);
}

TEST(PlanSite, LeavesTheSearchForCutsOutWithoutAnotherChoice) {
  int left_out = 0, cuts = 0;
  ForRandomSites(1000, [&](RandomGraph& random, SiteCosts costs) {
    for (const Connection connection : {Connection::kWarm, Connection::kIdle}) {
      costs.connection = connection;
      for (double* ms : {&costs.start_ms[0], &costs.ask_ms, &costs.asked_ms, &costs.server_load.ms,
                         &costs.cut.ready_ms, &costs.cut.stream_ms})
        *ms = 0.1 * double(random.Pick(0, 5));
      costs.cut.ready = {};
      if (const SiteWay cut = PlanSite(random.graph, costs).ways.back(); cut.can() && random.Pick(0, 2) == 0)
        costs.cut.ready = cut.on_device;
      const SitePlan all = PlanSite(random.graph, costs);
      const SitePlan pruned = PlanSite(random.graph, costs, {.prunes_cuts = true});
      EXPECT_NEAR(pruned.way().steps.total_ms(), all.way().steps.total_ms(), 1e-9);
      const SiteWay &cut = all.ways.back(), &known = pruned.ways.back();
      if (!cut.can()) continue;
      EXPECT_LE(SiteModel(random.graph, costs).LeastCutMs(), cut.steps.total_ms() + 1e-9);
      left_out += !known.can();
      cuts += known.can();
      EXPECT_TRUE(known.can() || known.why_not.starts_with("no cut can take less than")) << known.why_not;
    }
  });
  EXPECT_GT(left_out, 50);
  EXPECT_GT(cuts, 50);
}

TEST(PlanSite, HasTheLeastJoulesOfAllDivisions) {
  int cuts = 0;
  ForRandomSites(1000, [&](RandomGraph& random, const SiteCosts& costs) {
    const SitePlan plan = PlanSite(random.graph, costs, {.of = PoolObjective::kEnergy});
    EXPECT_NEAR(*plan.way().joules, AllDivisions(random.graph, costs).least_joules, 1e-9)
        << ToText(random.graph);
    cuts += plan.choice == SiteCandidate::kCut;
  });
  EXPECT_GT(cuts, 20);
}

// Objectives that are no sums have the best of several cuts. How often it is the best of all, and how far it
// is, is what this test shows.
TEST(PlanSite, IsNearTheBestOfAllDivisionsWithSlowStartDeadlinesAndStages) {
  double worst_slow_start = 1, worst_stages = 1;
  int sites = 0, slow_start = 0, in_time = 0, stages = 0, meant_in_time = 0;
  ForRandomSites(1000, [&](RandomGraph& random, SiteCosts costs) {
    ++sites;
    costs.connection = Connection::kIdle;
    costs.link.first_window_bytes = 1000;
    const AllDivisions all(random.graph, costs);
    const double ms = PlanSite(random.graph, costs).way().steps.total_ms();
    worst_slow_start = std::max(worst_slow_start, ms / all.least_ms);
    slow_start += ms <= all.least_ms + 1e-6;

    const double period_ms =
        PlanSite(random.graph, costs, {.of = PoolObjective::kThroughput}).way().period_ms;
    worst_stages = std::max(worst_stages, period_ms / all.least_period_ms);
    stages += period_ms <= all.least_period_ms + 1e-6;

    const SiteObjective objective{PoolObjective::kEnergy, 1.1 * all.least_ms};
    double least_joules = INFINITY;
    for (const auto& [late_ms, joules] : all.late_ms_and_joules)
      if (late_ms <= objective.deadline_ms) least_joules = std::min(least_joules, joules);
    const SitePlan plan = PlanSite(random.graph, costs, objective);
    if (std::isinf(least_joules)) {
      EXPECT_FALSE(plan.in_time);
      return;
    }
    ++meant_in_time;
    in_time += plan.in_time && *plan.way().joules <= least_joules + 1e-9;
  });
  RecordProperty("sites", sites);
  RecordProperty("worst_slow_start", std::to_string(worst_slow_start));
  RecordProperty("worst_stages", std::to_string(worst_stages));
  RecordProperty("slow_start", slow_start);
  RecordProperty("stages", stages);
  RecordProperty("in_time", in_time);
  RecordProperty("meant_in_time", meant_in_time);
  EXPECT_LT(worst_slow_start, 1.1);
  EXPECT_LT(worst_stages, 1.5);
  EXPECT_GT(slow_start, 0.95 * sites);
  EXPECT_GT(stages, 0.9 * sites);
  EXPECT_GT(in_time, 0.9 * meant_in_time);
}

// A chain of convolutions with random channels and strides.
Graph RandomChain(uint32_t seed) {
  Builder b(seed);
  std::mt19937 random(seed);
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  int64_t channels = pick(1, 4);
  ValueId x = b.Input({1, channels, 32, 32});
  for (int i = pick(1, 7); i > 0; --i) {
    const int64_t next = pick(1, 8);
    Attributes a;
    a.Set("strides", Ints{pick(1, 2), pick(1, 2)});
    x = b.Op("Conv", {x, b.Weight({next, channels, 1, 1})}, a);
    channels = next;
  }
  b.Output(x);
  InferShapes(b.graph);
  return b.graph;
}

TEST(PlanSite, IsNeurosurgeonOnChainsWithoutTheNewTerms) {
  int cuts = 0, alone = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Graph graph = RandomChain(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> us(10, 400), rate(10, 300);
    SiteCosts costs = SiteOf(
        graph, 0, 0, {.round_trip_ms = 0.01, .up_mbit_per_s = rate(random), .down_mbit_per_s = rate(random)});
    for (ProcessorCosts& p : costs.pool.processors)
      for (LayerCost& layer : p.layers) layer.us = us(random) * (&p == &costs.pool.processors[0] ? 2 : 1);
    const Plan other =
        PlanPoolBy("neurosurgeon", graph, costs.pool, [](const Plan& plan) { return plan.predicted_us; });
    costs.pool = RegressedCosts(graph, costs.pool);  // which Neurosurgeon plans by
    const SitePlan plan = PlanSite(graph, costs);
    EXPECT_NEAR(plan.way().steps.total_ms(), other.predicted_us * 1e-3, 1e-9 * other.predicted_us);
    cuts += plan.choice == SiteCandidate::kCut;
    alone += plan.choice == SiteCandidate::kDevice;
  }
  EXPECT_GT(cuts, 20);
  EXPECT_GT(alone, 20);
}

}  // namespace
}  // namespace mete
