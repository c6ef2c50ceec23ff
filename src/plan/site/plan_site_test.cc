#include "plan/site/plan_site.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "passes/graphs_testing.h"
#include "plan/site/site_costs_testing.h"

namespace mete {
namespace {

// Four convolutions that keep 32x8 pixels of 4 channels (4096 bytes each), and a dense layer with four
// scores.
Graph Chain() {
  Builder b;
  ValueId x = b.Input({1, 4, 32, 8});
  for (const int64_t kernel : {3, 3, 3, 3}) x = b.Conv(x, 4, 4, kernel, Ints(4, kernel / 2));
  const ValueId flat = b.Op("Flatten", {x});
  b.Output(b.Op("MatMul", {flat, b.Weight({1024, 4})}));
  InferShapes(b.graph);
  return b.graph;
}

// The device takes 5 layers x 2 ms = 10 ms, the server 1 ms; the link takes 1 ms and 4.1 ms for 4096 bytes.
constexpr NetworkLink kLink{.connect_ms = 3, .round_trip_ms = 1, .up_mbit_per_s = 8, .down_mbit_per_s = 8};
SiteCosts Costs(const Graph& graph) { return SiteOf(graph, 2000, 200, kLink); }

PhotoCosts Photo() {
  return {.file_bytes = 20'000,
          .scaled_bytes = 1'000,
          .device = {.decode_ms = 4, .scale_ms = 1, .encode_scaled_ms = 0.5, .decode_scaled_ms = {}},
          .server = {.decode_ms = 2, .scale_ms = 0.5, .encode_scaled_ms = {}, .decode_scaled_ms = 0.25}};
}

const SiteWay& WayOf(const SitePlan& plan, SiteCandidate candidate) { return plan.ways[size_t(candidate)]; }

void ExpectSteps(const SiteWay& way, double load, double preprocess, double upload, double compute) {
  EXPECT_TRUE(way.can()) << way.why_not;
  EXPECT_NEAR(way.steps.load_ms, load, 1e-9);
  EXPECT_NEAR(way.steps.preprocess_ms, preprocess, 1e-9);
  EXPECT_NEAR(way.steps.upload_ms, upload, 1e-9);
  EXPECT_NEAR(way.steps.compute_ms, compute, 1e-9);
}

TEST(PlanSite, HasTheFourStepsOfEachCandidate) {
  const Graph graph = Chain();
  SiteCosts costs = Costs(graph);
  costs.photo = Photo();
  costs.state = StartState::kCold;
  costs.loads[size_t(StartState::kCold)] = LoadCost{50, 10};
  costs.connection = Connection::kCold;
  costs.server_wait_ms = 7;
  const SitePlan plan = PlanSite(graph, costs);
  ExpectSteps(WayOf(plan, SiteCandidate::kDevice), 50, 5, 0, 10);
  // 16 bytes of scores come back; the window of 14600 bytes lasts longer than the round trip
  ExpectSteps(WayOf(plan, SiteCandidate::kRawPhoto), 0, 2.5, 3 + 1 + 20 + 0.016, 1 + 7);
  ExpectSteps(WayOf(plan, SiteCandidate::kScaledPhoto), 0, 4 + 1 + 0.5 + 0.25, 3 + 1 + 1 + 0.016, 1 + 7);
  // all cuts send 4096 bytes; the first one has the fewest weights and the least computing on the device
  const SiteWay& cut = WayOf(plan, SiteCandidate::kCut);
  EXPECT_EQ(cut.on_device, (OnDevice{true, false, false, false, false}));
  const double weights = 4 * 4 * 9.0 / (4 * 4 * 4 * 9 + 4096);
  ExpectSteps(cut, 10 + weights * 40, 5, 3 + 1 + 4.096 + 0.016, 2 + 0.8 + 7);
  EXPECT_EQ(plan.choice, SiteCandidate::kScaledPhoto);
  EXPECT_NEAR(plan.give_up_ms, 4 * plan.way().late_ms + 250, 1e-9);
}

// The home takes 10 ms, of which a cut pays its part; the pool takes 3 ms.
TEST(PlanSite, AMeasuredPoolComputesTheDevicesWayAndItsHomeTheCutsPart) {
  const Graph graph = Chain();
  SiteCosts costs = Costs(graph);
  const SitePlan alone = PlanSite(graph, costs);
  costs.device_ms = 3;
  const SitePlan plan = PlanSite(graph, costs);
  ExpectSteps(WayOf(plan, SiteCandidate::kDevice), 0, 0, 0, 3);
  EXPECT_NEAR(WayOf(plan, SiteCandidate::kDevice).period_ms, 3, 1e-9);
  EXPECT_NEAR(*WayOf(plan, SiteCandidate::kDevice).joules, (1 + 2) * 3e-3, 1e-9);
  EXPECT_EQ(plan.choice, SiteCandidate::kDevice);
  EXPECT_NE(alone.choice, SiteCandidate::kDevice);
  const SiteWay &cut = WayOf(plan, SiteCandidate::kCut), &before = WayOf(alone, SiteCandidate::kCut);
  EXPECT_EQ(cut.on_device, before.on_device);
  EXPECT_NEAR(cut.device_ms, before.device_ms, 1e-9);
  costs.device_ms = -1;
  EXPECT_TELLS(Verify(costs, graph), "[device] no model takes such a time; got -1 ms");
}

TEST(PlanSite, LoadingMakesTheCloudWin) {
  const Graph graph = Chain();
  SiteCosts costs = SiteOf(graph, 200, 100, kLink);  // 1 ms on the device
  EXPECT_EQ(PlanSite(graph, costs).choice, SiteCandidate::kDevice);
  costs.loads[size_t(StartState::kEvicted)] = LoadCost{30, 25};
  costs.state = StartState::kEvicted;
  const SitePlan plan = PlanSite(graph, costs);
  EXPECT_EQ(plan.choice, SiteCandidate::kScaledPhoto);
  EXPECT_NE(
      plan.reason.find("cut comes next with 30.9 ms, because its load takes 25.2 ms rather than 0.00 ms"),
      std::string::npos)
      << plan.reason;
}

TEST(PlanSite, ACutAloneWaitsForTheServersPart) {
  const Graph graph = Chain();
  SiteCosts costs = Costs(graph);
  const SitePlan before = PlanSite(graph, costs);
  costs.cut = {.ready_ms = 40, .stream_ms = 3, .load = LoadCost{10, 10}};
  const SitePlan plan = PlanSite(graph, costs);
  for (size_t c = 0; c < kSiteCandidates; ++c) {
    if (!before.ways[c].can()) continue;
    const bool cuts = SiteCandidate(c) == SiteCandidate::kCut;
    EXPECT_NEAR(plan.ways[c].steps.load_ms, before.ways[c].steps.load_ms + (cuts ? 50 : 0), 1e-9);
    EXPECT_NEAR(plan.ways[c].steps.upload_ms, before.ways[c].steps.upload_ms + (cuts ? 3 : 0), 1e-9);
  }
  // The division that is ready takes none of this, and each other one all of it.
  const OnDevice three{true, true, true, false, false};
  costs.cut.ready = three;
  const SiteWay ready = WayOf(PlanSite(graph, costs), SiteCandidate::kCut);
  EXPECT_EQ(ready.on_device, three);
  ExpectSteps(ready, 0, 0, 1 + 4.096 + 0.016, 3 * 2 + 2 * 0.2);
  for (LayerCost& layer : costs.pool.processors[0].layers) layer.us = 50'000;
  const SiteWay other = WayOf(PlanSite(graph, costs), SiteCandidate::kCut);
  EXPECT_EQ(other.on_device, (OnDevice{true, false, false, false, false}));
  EXPECT_NEAR(other.steps.load_ms, 50, 1e-9);
  costs.cut.ready = {true};
  EXPECT_THROW(PlanSite(graph, costs), Error);
  const SiteWay none =
      WayOf(PlanSite(graph, Costs(graph), {.no_cuts = "nobody computes a part"}), SiteCandidate::kCut);
  EXPECT_EQ(none.why_not, "nobody computes a part");
}

TEST(PlanSite, SlowStartMakesTheRawPhotoLoseToTheScaledOne) {
  const Graph graph = Chain();
  SiteCosts costs =
      SiteOf(graph, 20'000, 100, {.round_trip_ms = 20, .up_mbit_per_s = 100, .down_mbit_per_s = 100});
  costs.photo = Photo();
  costs.photo->file_bytes = 100'000;  // 8 ms
  costs.photo->device = {.decode_ms = 6, .scale_ms = 4, .encode_scaled_ms = 1, .decode_scaled_ms = {}};
  EXPECT_EQ(PlanSite(graph, costs).choice, SiteCandidate::kRawPhoto);
  costs.connection = Connection::kIdle;  // three gaps of some 19, 18 and 15 ms
  EXPECT_EQ(PlanSite(graph, costs).choice, SiteCandidate::kScaledPhoto);
}

TEST(PlanSite, ABusyServerMakesTheDeviceWin) {
  const Graph graph = Chain();
  SiteCosts costs = Costs(graph);
  EXPECT_NE(PlanSite(graph, costs).choice, SiteCandidate::kDevice);
  costs.server_wait_ms = 20;
  EXPECT_EQ(PlanSite(graph, costs).choice, SiteCandidate::kDevice);
  EXPECT_EQ(PlanSite(graph, costs).give_up_ms, 0);
}

// On the device 1 ms more of computing costs 3 mJ, and the server's answer takes 20 ms of idling at 1 W.
TEST(PlanSite, ADeadlineChangesTheLeastEnergysChoice) {
  const Graph graph = Chain();
  SiteCosts costs = SiteOf(graph, 2000, 100,
                           {.round_trip_ms = 15, .up_mbit_per_s = 8, .down_mbit_per_s = 8, .late_ratio = 2});
  costs.pool.processors[0].power = PowerCosts{1, 2, 0, 0};
  const SitePlan whenever = PlanSite(graph, costs, {.of = PoolObjective::kEnergy});
  EXPECT_EQ(whenever.choice, SiteCandidate::kScaledPhoto);
  EXPECT_NEAR(*whenever.way().joules, 1 * (15 + 4.096 + 0.016 + 0.5) * 1e-3, 1e-9);
  const SitePlan soon = PlanSite(graph, costs, {.of = PoolObjective::kEnergy, .deadline_ms = 30});
  EXPECT_EQ(
      soon.choice,
      SiteCandidate::kDevice);  // 10 ms, where the server's answer takes 39 ms or more in one of twenty cases
  EXPECT_NE(soon.reason.find("is late"), std::string::npos) << soon.reason;
  EXPECT_TRUE(soon.in_time);
  const SitePlan never = PlanSite(graph, costs, {.of = PoolObjective::kEnergy, .deadline_ms = 5});
  EXPECT_FALSE(never.in_time);
  EXPECT_EQ(never.choice, SiteCandidate::kDevice);
}

TEST(PlanSite, UnderLoadTheBusiestStageDecides) {
  const Graph graph = Chain();
  // 5 ms on either side alone, and 4.1 ms for any value between them
  const SiteCosts costs = SiteOf(graph, 1000, 1000, kLink);
  EXPECT_EQ(PlanSite(graph, costs).choice, SiteCandidate::kDevice);
  const SitePlan plan = PlanSite(graph, costs, {.of = PoolObjective::kThroughput});
  EXPECT_EQ(plan.choice, SiteCandidate::kCut);
  EXPECT_NEAR(plan.way().period_ms, 4.096, 1e-9);
}

TEST(PlanSite, AnUnknownFigureIsAReasonAndNoNumber) {
  const Graph graph = Chain();
  SiteCosts costs = Costs(graph);
  costs.state = StartState::kCold;  // no load of it
  costs.photo = Photo();
  costs.photo->server.scale_ms.reset();
  const SitePlan plan = PlanSite(graph, costs);
  EXPECT_EQ(WayOf(plan, SiteCandidate::kDevice).why_not,
            "the time to load the model from the state 'cold' is not known");
  EXPECT_EQ(WayOf(plan, SiteCandidate::kRawPhoto).why_not,
            "the time to scale a photo on the server is not known");
  EXPECT_EQ(WayOf(plan, SiteCandidate::kCut).why_not, WayOf(plan, SiteCandidate::kDevice).why_not);
  EXPECT_EQ(plan.choice, SiteCandidate::kScaledPhoto);
  costs.pool.processors[0].power.reset();
  EXPECT_FALSE(PlanSite(graph, costs).way().joules);
  EXPECT_TELLS(PlanSite(graph, costs, {.of = PoolObjective::kEnergy}),
               "[site] the least joules are asked for, and the device's power is not known");
}

TEST(PlanSite, WithoutAServerTheDeviceComputes) {
  const Graph graph = Chain();
  SiteCosts costs = Costs(graph);
  costs.pool = DevicePool(costs);
  costs.has_server = false;
  const SitePlan plan = PlanSite(graph, costs);
  EXPECT_EQ(plan.choice, SiteCandidate::kDevice);
  EXPECT_EQ(plan.reason, "device takes 10.0 ms; there is no other way");
  for (const SiteCandidate c : {SiteCandidate::kRawPhoto, SiteCandidate::kScaledPhoto, SiteCandidate::kCut})
    EXPECT_EQ(WayOf(plan, c).why_not, "there is no server");
  costs.loads = {};
  EXPECT_TELLS(PlanSite(graph, costs), "[site] no way to compute can be planned: device: the time to load");
}

TEST(PlanSite, TheServerNeedNotKnowAllLayers) {
  const Graph graph = Chain();
  SiteCosts costs = SiteOf(graph, 4000, 200, kLink);
  costs.pool.processors[1].layers[0] = {.why_not = "no kernel"};
  const SitePlan plan = PlanSite(graph, costs);
  EXPECT_EQ(plan.choice, SiteCandidate::kCut);
  EXPECT_EQ(plan.way().on_device, (OnDevice{true, false, false, false, false}));
  EXPECT_NE(WayOf(plan, SiteCandidate::kScaledPhoto).why_not.find("server cannot compute layer"),
            std::string::npos);
}

TEST(GiveUpMs, LeavesTheDeviceTheTimeThatItTakes) {
  SiteWay cloud, device;
  cloud.candidate = SiteCandidate::kRawPhoto;
  cloud.late_ms = 100;
  device.steps.compute_ms = 300;
  EXPECT_EQ(GiveUpMs(cloud, device, 0), 650);
  EXPECT_EQ(GiveUpMs(cloud, device, 500), 200);
  EXPECT_EQ(GiveUpMs(cloud, device, 200), 650);  // the device takes 300
  EXPECT_EQ(GiveUpMs(device, device, 500), 0);
}

TEST(DeadlineAfterAsking, IsNoneWithoutADeadlineHoweverLongAskingTook) {
  SiteWay cloud, device;
  cloud.candidate = SiteCandidate::kRawPhoto;
  cloud.late_ms = 100;
  device.ask_ms = 5;
  device.steps.compute_ms = 300;
  for (const double asked_ms : {0, 5, 90}) {
    EXPECT_EQ(DeadlineAfterAsking(0, asked_ms, device), 0);
    EXPECT_EQ(GiveUpMs(cloud, device, DeadlineAfterAsking(0, asked_ms, device)), 650);
  }
  EXPECT_EQ(DeadlineAfterAsking(500, 5, device), 500);
  EXPECT_EQ(DeadlineAfterAsking(500, 35, device), 470);
  EXPECT_EQ(GiveUpMs(cloud, device, DeadlineAfterAsking(500, 35, device)), 170);
}

TEST(VerifySite, ListsAllProblems) {
  const Graph graph = Chain();
  SiteCosts costs = Costs(graph);
  costs.link.up_mbit_per_s = 0;
  costs.server_wait_ms = -1;
  costs.loads[1] = LoadCost{1, 2};
  costs.photo = PhotoCosts{};
  costs.photo->device.decode_ms = NAN;
  for (const char* problem :
       {"[link]", "nobody waits", "[evicted]", "[photo] has no such size", "got nan ms"})
    EXPECT_TELLS(Verify(costs, graph), problem);
}

TEST(LoadsOf, AreStartsWithoutTheAnswerOfAResidentModel) {
  StartCosts starts;
  starts.resident = {.ms = 20, .starts = 5, .steps = {.answer_ms = 20}};
  starts.evicted = {.ms = 19, .starts = 5, .steps = {.answer_ms = 19}};  // no less than a resident one
  starts.killed = {.ms = 150, .starts = 5, .steps = {30, 40, 50, 30}};
  const Loads loads = LoadsOf(starts);
  EXPECT_EQ(loads[size_t(StartState::kResident)], LoadCost{});
  EXPECT_EQ(loads[size_t(StartState::kEvicted)], LoadCost{});
  EXPECT_EQ(loads[size_t(StartState::kKilled)], (LoadCost{60, 0}));
  EXPECT_FALSE(loads[size_t(StartState::kCold)]);
  EXPECT_EQ(StartsOf(starts), (StartTimes{0, 0, 70, 0, 0}));
}

TEST(PlanSite, AllWaysWaitForAProcessAndThoseWithAServerForItsAnswer) {
  const Graph graph = Chain();
  SiteCosts costs = Costs(graph);
  costs.photo = Photo();
  const SitePlan resident = PlanSite(graph, costs);
  costs.state = StartState::kKilled;
  costs.loads[size_t(StartState::kKilled)] = LoadCost{};
  costs.start_ms[size_t(StartState::kKilled)] = 30;
  costs.ask_ms = 4;
  const SitePlan killed = PlanSite(graph, costs);
  for (size_t c = 0; c < kSiteCandidates; ++c) {
    const bool asks = SiteCandidate(c) != SiteCandidate::kDevice;
    EXPECT_NEAR(killed.ways[c].steps.load_ms, 30, 1e-9);
    EXPECT_NEAR(killed.ways[c].steps.upload_ms, resident.ways[c].steps.upload_ms + (asks ? 4 : 0), 1e-9);
  }
  costs.start_ms[0] = -1;
  costs.ask_ms = NAN;
  for (const char* problem : {"no start takes", "nobody asks"}) EXPECT_TELLS(Verify(costs, graph), problem);
}

TEST(InProportion, LayersTakeTheWholeTimeTogether) {
  const ProcessorCosts phone{"phone", kNoLink, {{300, 100}, {.why_not = "no kernel"}, {100, 0}}};
  const ProcessorCosts server = InProportion(phone, "server", 40);
  EXPECT_EQ(server.name, "server");
  EXPECT_EQ(server.layers, (std::vector<LayerCost>{{30, 10}, {.why_not = "no kernel"}, {10, 0}}));
  EXPECT_TELLS(InProportion({"phone", kNoLink, {{0, 0}}}, "server", 40), "[phone] its layers take no time");
}

TEST(StartStates, HaveNames) {
  EXPECT_EQ(ParseStartState("first-ever", "--state"), StartState::kFirstEver);
  EXPECT_TELLS(ParseStartState("warm", "--state"),
               "[--state] is no state of a model; got 'warm', expected one of: resident, evicted, killed, "
               "cold, first-ever");
}

}  // namespace
}  // namespace mete
