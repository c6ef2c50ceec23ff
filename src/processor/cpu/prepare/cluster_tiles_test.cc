#include "processor/cpu/prepare/cluster_tiles.h"

#include <gtest/gtest.h>

#include <map>

#include "base/temp_path_testing.h"
#include "kernels/fast/target/target.h"

namespace mete {
namespace {

constexpr int64_t kRows = 50, kColumns = 100, kLength = 30;

const std::vector<WorkerSpeed> kTwoKinds{{0, 1}, {1, 0.4}, {1, 0.4}};

// Trials with given times: for each cluster, a time for each candidate. Counts the calls.
class Kernels {
 public:
  explicit Kernels(std::map<int, std::vector<double>> us) : us_(std::move(us)) {}

  ClusterTiles Choose(Tuner* tuner, ThreadPool& pool) {
    const GemmPlan plan = PlanGemm(kColumns, kLength);
    const std::vector<Tile> tiles = GemmTiles(plan, kRows);
    return ChooseTiles(tuner, "a product", plan, kRows, pool, [&, tiles](const Tile& tile) -> Trial {
      const auto number = size_t(std::find(tiles.begin(), tiles.end(), tile) - tiles.begin());
      return {[&, number] {
        ++calls;
        int worker = -1;
        pool.For(1, [&](int w, int64_t, int64_t) { worker = w; });  // the worker that computes
        return us_.at(pool.worker(worker).cluster)[number];
      }};
    });
  }

  int calls = 0;

 private:
  const std::map<int, std::vector<double>> us_;
};

TEST(ChooseTiles, EachClusterGetsItsOwnFastest) {
  const std::vector<Tile> tiles = GemmTiles(PlanGemm(kColumns, kLength), kRows);
  ASSERT_GE(tiles.size(), 2u);
  ThreadPool pool(3, {}, "adaptive", {}, kTwoKinds);
  Tuner tuner;
  Kernels kernels({{0, {100, 120, 130}}, {1, {300, 200, 280}}});
  const ClusterTiles chosen = kernels.Choose(&tuner, pool);
  EXPECT_EQ(chosen.tiles, (std::vector<Tile>{tiles[0], tiles[1]}));
  const GemmPlan plan = PlanGemm(kColumns, kLength);
  const std::string largest = TileText(plan, tiles[0]), other = TileText(plan, tiles[1]);
  EXPECT_NE(chosen.why.find("cores of speed 1: tile of " + largest + " measured 100.0 us"), std::string::npos)
      << chosen.why;
  EXPECT_NE(chosen.why.find("cores of speed 0.4: tile of " + other + " measured 200.0 us"), std::string::npos)
      << chosen.why;
  EXPECT_EQ(TilesText(plan, chosen.tiles), largest + " and " + other);
}

TEST(ChooseTiles, WhatIsNotClearlyFasterIsLeft) {
  ThreadPool pool(3, {}, "adaptive", {}, kTwoKinds);
  Tuner tuner;
  const ClusterTiles chosen = Kernels({{0, {100, 98, 99}}, {1, {300, 295, 297}}}).Choose(&tuner, pool);
  EXPECT_TRUE(chosen.tiles.empty()) << "the largest for all";
  EXPECT_NE(chosen.why, "");
}

TEST(ChooseTiles, ATileThatSuitsAllClustersIsThatOfAll) {
  ThreadPool pool(3, {}, "adaptive", {}, kTwoKinds);
  Tuner tuner;
  const ClusterTiles chosen = Kernels({{0, {100, 80, 99}}, {1, {300, 200, 295}}}).Choose(&tuner, pool);
  ASSERT_EQ(chosen.tiles.size(), 2u);
  EXPECT_EQ(chosen.tiles[0], chosen.tiles[1]);
  EXPECT_NE(chosen.tiles[0], Tile());
}

TEST(ChooseTiles, EqualCoresOneThreadOrNoTunerMeasureNothing) {
  Kernels kernels({{0, {100, 50, 50}}, {1, {100, 50, 50}}});
  Tuner tuner;
  ThreadPool equal(3), kinds(3, {}, "adaptive", {}, kTwoKinds);
  EXPECT_TRUE(kernels.Choose(&tuner, equal).tiles.empty());
  EXPECT_TRUE(kernels.Choose(nullptr, kinds).tiles.empty());
  kinds.PrepareStep(1);
  EXPECT_TRUE(kernels.Choose(&tuner, kinds).tiles.empty());
  EXPECT_EQ(kernels.calls, 0);
}

// Cores of the Cortex-A53's kind have a tile of their own where the target has one for them.
TEST(ChooseTiles, InOrderCoresHaveTheirFirstTileWithoutATuner) {
  const GemmPlan plan = PlanGemm(kColumns, kLength);
  std::vector<WorkerSpeed> workers = kTwoKinds;
  workers[1].in_order = workers[2].in_order = true;
  ThreadPool pool(3, {}, "adaptive", {}, workers);
  const std::vector<Tile> tiles = ChooseTiles(nullptr, "a product", plan, kRows, pool, {}).tiles;
  const Tile in_order = GemmTiles(plan, kRows, true)[0];
  if (ActiveTarget() == std::string("neon")) {
    EXPECT_EQ(TileText(plan, in_order), "8x2");
    EXPECT_EQ(TileText(plan, {}), "5x4");
    EXPECT_EQ(tiles, (std::vector<Tile>{Tile(), in_order}));
  } else {
    EXPECT_EQ(in_order, Tile());
    EXPECT_TRUE(tiles.empty());
  }
}

// The keys of the file have the kind of core.
TEST(ChooseTiles, TheFileKeepsTheTimesOfEachCluster) {
  const TempPath file;
  ThreadPool pool(3, {}, "adaptive", {}, kTwoKinds);
  std::vector<Tile> first;
  {
    Tuner tuner(file.str());
    first = Kernels({{0, {100, 120, 130}}, {1, {300, 200, 280}}}).Choose(&tuner, pool).tiles;
    tuner.Save();
  }
  Tuner again(file.str());
  Kernels never({});
  EXPECT_EQ(never.Choose(&again, pool).tiles, first);
  EXPECT_EQ(never.calls, 0);
  ThreadPool slower(3, {}, "adaptive", {}, {{0, 1}, {1, 0.3}, {1, 0.3}});
  Kernels others({{1, {300, 310, 320}}});
  EXPECT_TRUE(others.Choose(&again, slower).tiles.empty()) << "another kind of core";
  EXPECT_GT(others.calls, 0);
}

TEST(WorkerPlans, HaveTheTileOfTheWorkersCluster) {
  const ThreadPool pool(3, {}, "adaptive", {}, kTwoKinds);
  const WorkerPlans<GemmPlan> plans(PlanGemm(kColumns, kLength), {{}, {4, false}}, pool);
  EXPECT_EQ(plans.of(0).tile, Tile());
  EXPECT_EQ(plans.of(1).tile, (Tile{4, false}));
  EXPECT_EQ(plans.of(2).tile, (Tile{4, false}));
  const WorkerPlans<GemmPlan> alike(PlanGemm(kColumns, kLength), {}, pool);
  EXPECT_EQ(alike.of(2).tile, Tile());
}

}  // namespace
}  // namespace mete
