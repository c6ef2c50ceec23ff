// One CPU as several processors: which ones, and the choice between both.
#include "engine/pool/several_processors.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/errors_testing.h"
#include "engine/engine_testing.h"
#include "engine/model.h"
#include "engine/pool/pool_internals.h"
#include "engine/pool/stored_profile.h"
#include "run/compare_sessions.h"

namespace mete {
namespace {

using Cores = std::vector<int>;

Machine MachineOf(const std::vector<Cores>& clusters, const std::vector<Cores>& siblings = {}) {
  Machine machine;
  for (const Cores& cores : clusters) {
    Cluster& cluster = machine.clusters.emplace_back();
    cluster.cores = cores;
    cluster.siblings = siblings;
    machine.affinity.allowed.insert(machine.affinity.allowed.end(), cores.begin(), cores.end());
  }
  std::sort(machine.affinity.allowed.begin(), machine.affinity.allowed.end());
  return machine;
}

std::string Several(const PoolFile& pool, const Machine& machine, const SessionOptions& kernels = {}) {
  const std::optional<PoolFile> several = AsSeveralProcessors(pool, machine, kernels);
  return several ? several->name : "";
}

TEST(AsSeveralProcessors, OneForEachClusterTheFastestFirst) {
  const Machine machine = MachineOf({{4, 5}, {0, 1, 2, 3}, {7}});
  EXPECT_EQ(Several(PoolOfList("cpu"), machine), "cpu:4-5,cpu:0-3,cpu:7");
  EXPECT_EQ(Several(PoolOfList("cpu:3-4"), machine), "cpu:4,cpu:3");
  EXPECT_EQ(Several(PoolFile{.devices = {{.name = "here"}}}, machine), "cpu:4-5,cpu:0-3,cpu:7");
  const std::optional<PoolFile> several = AsSeveralProcessors(PoolOfList("cpu"), machine, {});
  ASSERT_TRUE(several);
  EXPECT_EQ(several->devices.at(0).name, "here");
  EXPECT_EQ(several->devices[0].processors.at(1).cores, (Cores{0, 1, 2, 3}));
  EXPECT_EQ(TextOfSeveral(*several), "cpu:4-5, cpu:0-3 and cpu:7 as 3 processors");
}

TEST(AsSeveralProcessors, TwoHalvesOfOneCluster) {
  EXPECT_EQ(Several(PoolOfList("cpu"), MachineOf({{0, 1}})), "cpu:0,cpu:1");
  EXPECT_EQ(Several(PoolOfList("cpu"), MachineOf({{0, 1, 2, 3, 4}})), "cpu:0-2,cpu:3-4");
  EXPECT_EQ(Several(PoolOfList("cpu:1,2,5,7"), MachineOf({{0, 1, 2, 3, 4, 5, 6, 7}})), "cpu:1-2,cpu:5,7");
  EXPECT_EQ(TextOfSeveral(*AsSeveralProcessors(PoolOfList("cpu"), MachineOf({{0, 1}}), {})),
            "cpu:0 and cpu:1 as two processors");
}

TEST(AsSeveralProcessors, TheListIsThatOfTheSamePool) {
  const std::optional<PoolFile> several =
      AsSeveralProcessors(PoolOfList("cpu"), MachineOf({{0, 1, 4, 5}}), {});
  ASSERT_TRUE(several);
  const PoolFile listed = PoolOfList(several->name);
  EXPECT_EQ(NamesOf(listed), NamesOf(*several));
  EXPECT_EQ(listed.devices[0].processors.at(1).cores, several->devices[0].processors.at(1).cores);
}

TEST(AsSeveralProcessors, ThreadsOfAPhysicalCoreStayTogether) {
  const Machine machine = MachineOf({{0, 1, 2, 3}}, {{0, 2}, {1, 3}});
  EXPECT_EQ(Several(PoolOfList("cpu"), machine), "cpu:0,2,cpu:1,3");
  EXPECT_EQ(Several(PoolOfList("cpu:0,2"), machine), "");
  EXPECT_EQ(Several(PoolOfList("cpu:0-1"), machine), "cpu:0,cpu:1");
}

TEST(AsSeveralProcessors, OtherPoolsStayAsTheyAre) {
  const Machine machine = MachineOf({{0, 1}, {2, 3}});
  EXPECT_EQ(Several(PoolOfList("cpu:0"), machine), "");
  EXPECT_EQ(Several(PoolOfList("cpu:0-1,cpu:2-3"), machine), "");
  PoolFile slow = PoolOfList("cpu"), emulated = slow, workers = slow;
  slow.devices[0].processors[0].speed = 0.5;
  EXPECT_EQ(Several(slow, machine), "");
  emulated.devices[0].processors[0].kind = "emulated";
  EXPECT_EQ(Several(emulated, machine), "");
  workers.devices.push_back({.name = "far", .address = "far:1"});
  EXPECT_EQ(Several(workers, machine), "");
}

TEST(AsSeveralProcessors, FewerThreadsThanCoresStayOnePool) {
  Machine machine = MachineOf({{0, 1, 2, 3}});
  EXPECT_EQ(Several(PoolOfList("cpu"), machine, {.threads = 3}), "");
  EXPECT_EQ(Several(PoolOfList("cpu"), machine, {.threads = 4}), "cpu:0-1,cpu:2-3");
  EXPECT_EQ(Several(PoolOfList("cpu"), machine, {.threads = 2, .cores = {3, 1}}), "cpu:1,cpu:3");
  EXPECT_EQ(Several(PoolOfList("cpu"), machine, {.cores = {0, 1}, .speeds = {1, 0.5}}), "");
  machine.affinity.quota_cores = 2.5;
  EXPECT_EQ(Several(PoolOfList("cpu"), machine), "");
}

// Pools whose figures are kept in a folder of the test's own.
class OneCpu : public testing::Test {
 protected:
  OneCpu() {
    std::filesystem::create_directory(folder_.str());
    setenv("METE_CACHE", folder_.str().c_str(), 1);
    options_.kernels = SessionOptions::Estimated(0);
    options_.note = [this](const std::string& note) { notes_ += note + "\n"; };
  }
  ~OneCpu() override { unsetenv("METE_CACHE"); }

  void SetUp() override {
    const Cores cores = ThisDevice().cores;
    if (cores.size() < 2) GTEST_SKIP() << "this process may use one core alone";
    list_ = fmt::format("cpu:{},{}", cores[0], cores[1]);
    several_ = AsSeveralProcessors(PoolOfList(list_), ReadMachine(), options_.kernels).value_or(PoolFile{});
    if (several_.devices.empty()) GTEST_SKIP() << "both cores are threads of one physical core";
  }
  // A session for which both ways take these times; counts how often the sessions ran in turns.
  Session Made(const PoolOptions& options, double one_us, double several_us) {
    return PoolInternals::MakeSession(
        model_, Pool::FromList(list_), options,
        [=, this](const std::vector<PoolSession*>& sessions, const CancelToken*) {
          EXPECT_EQ(sessions.size(), 2u);
          ++turns_;
          return std::vector{one_us, several_us};
        });
  }
  void ExpectAnswers(Session& session) {
    Session one(model_, SessionOptions::Estimated());
    const Tensor input = Ramp(kInput, 0.01f);
    const std::vector<float> want = Values(one.Run({input}).at(0)), got = Values(session.Run({input}).at(0));
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5f) << i;
  }

  // Keeps made-up figures: each layer takes so long on each processor, and pieces cost next to nothing.
  void StoreLayersOf(const PoolFile& file, double us) {
    PoolProfile profile = StoredPoolProfile(DivisibleOf(model_), file, options_.kernels, {}).value();
    for (ProcessorCosts& processor : profile.costs.processors) {
      processor.link = {1, 1, 1e5, 1e5};
      processor.share_us = 0;
      processor.layers.assign(processor.layers.size(), {us, 0});
    }
    StorePoolProfile(profile, file, options_.kernels);
  }
  static std::vector<std::string> Processors(const Session& session) {
    std::vector<std::string> names;
    for (const PoolStats::Part& part : session.pool_stats().parts) names.push_back(part.processor);
    return names;
  }

  static inline const Shape kInput{1, 3, 32, 32};
  const TempPath folder_;
  const ModelFile file_{OpenConvNet()};
  const Model model_ = Model::Load(file_.path(), {.input_shapes = {{"data", kInput}}});
  PoolOptions options_;
  std::string list_, notes_;
  PoolFile several_;
  int turns_ = 0;
};

TEST_F(OneCpu, KeepsSeveralProcessorsThatAreSooner) {
  Session session = Made(options_, 3000, 2500);
  EXPECT_EQ(turns_, 1);
  EXPECT_EQ(Processors(session), NamesOf(several_));
  EXPECT_NE(notes_.find(TextOfSeveral(several_) +
                        " are faster than one pool of threads: 2.50 instead of 3.00 ms as measured\n"),
            std::string::npos)
      << notes_;
  EXPECT_FALSE(session.Notes().empty());
  ExpectAnswers(session);
}

TEST_F(OneCpu, KeepsOnePoolOfThreadsThatIsNotSlower) {
  Session session = Made(options_, 2500, 2500);
  EXPECT_EQ(turns_, 1);
  EXPECT_EQ(Processors(session), std::vector{list_});
  EXPECT_EQ(notes_, "") << "the notes of the session that went are not its caller's";
  ExpectAnswers(session);
}

TEST_F(OneCpu, MeasuresBothWays) {
  const Pool pool = Pool::FromList(list_), several = Pool::FromList(several_.name);
  PoolOptions options = options_;
  options.kernels = {};
  const PoolFigures figures = pool.Measure(model_, options);
  EXPECT_EQ(figures.processors, std::vector{list_});
  ASSERT_EQ(figures.as_several.size(), 1u);
  EXPECT_EQ(figures.as_several[0].processors, NamesOf(several_));
  EXPECT_EQ(figures.as_several[0].path, several.Measured(model_, options).value().path);
  EXPECT_TRUE(pool.Measured(model_, options).value().as_several.empty());
}

TEST_F(OneCpu, IsPlannedTheWayThatIsPredictedToBeSooner) {
  const Pool pool = Pool::FromList(list_);
  EXPECT_TELLS((void)pool.Plan(model_, options_), "was not measured");
  (void)pool.Measure(model_, options_);
  StoreLayersOf(PoolOfList(list_), 2000);
  StoreLayersOf(several_, 1000);
  const PoolPlan divided = pool.Plan(model_, options_);
  EXPECT_EQ(divided.processors.size(), 2u);
  EXPECT_NE(divided.note.find("One pool of threads is predicted to take 8.00 ms"), std::string::npos)
      << divided.note;
  PoolOptions given = options_;
  given.plan_json = divided.json;
  EXPECT_EQ(Processors(Made(given, 1, 2)), NamesOf(several_));
  PoolOptions throughput = options_;
  throughput.objective = "throughput";
  EXPECT_EQ(pool.Plan(model_, throughput).processors.size(), 1u);
  StoreLayersOf(several_, 8000);
  EXPECT_EQ(pool.Plan(model_, options_).processors.size(), 1u);
}

TEST_F(OneCpu, APlanSaysForWhichOfThemItIs) {
  PoolOptions given = options_;
  given.planner = "layerwise";
  given.keep_plan = true;
  given.plan_json = Session(model_, Pool::FromList(several_.name), given).PlanJson();
  Session divided = Made(given, 1, 2);
  EXPECT_EQ(divided.PlanJson(), given.plan_json);
  EXPECT_TRUE(Pool::FromList(list_).Measured(model_, given));
  ExpectAnswers(divided);
  given.plan_json.clear();
  given.plan_json = Made(given, 2, 1).PlanJson();
  EXPECT_EQ(Processors(Made(given, 2, 1)), std::vector{list_});
  EXPECT_EQ(turns_, 0);
  given.plan_json =
      Session(model_, Pool::FromList(fmt::format("cpu:{}", ThisDevice().cores[0])), options_).PlanJson();
  EXPECT_TELLS(Made(given, 2, 1), "is for another pool");
}

TEST_F(OneCpu, ChoosesForLatencyWithOneLaneAlone) {
  PoolOptions kept = options_, lanes = options_, other = options_, throughput = options_;
  kept.keep_plan = true;
  lanes.lanes = 2;
  other.planner = "alone";
  throughput.objective = "throughput";
  for (const PoolOptions& options : {kept, lanes, other, throughput})
    EXPECT_EQ(Processors(Made(options, 2, 1)), std::vector{list_});
  EXPECT_EQ(turns_, 0);
  CancelToken cancel;
  PoolOptions cancelled = options_;
  cancelled.cancel = &cancel;
  EXPECT_TELLS(
      PoolInternals::MakeSession(model_, Pool::FromList(list_), cancelled,
                                 [&](const std::vector<PoolSession*>& sessions, const CancelToken* token) {
                                   cancel.Cancel();
                                   return TimeSessions(sessions, token);
                                 }),
      "interrupted while sessions ran in turns");
}

TEST_F(OneCpu, TheTimesThatAreMeasuredDecide) {
  std::vector<double> us;
  Session session =
      PoolInternals::MakeSession(model_, Pool::FromList(list_), options_,
                                 [&](const std::vector<PoolSession*>& sessions, const CancelToken* cancel) {
                                   return us = TimeSessions(sessions, cancel);
                                 });
  ASSERT_EQ(us.size(), 2u);
  EXPECT_GT(std::min(us[0], us[1]), 0);
  EXPECT_EQ(Processors(session), us[1] < us[0] ? NamesOf(several_) : std::vector{list_});
  EXPECT_EQ(session.pool_stats().requests, 0) << "what ran in turns is no request";
  ExpectAnswers(session);
}

}  // namespace
}  // namespace mete
