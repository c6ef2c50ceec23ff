#include "processor/cpu/prepare/cluster_tiles.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace mete {

std::string TileText(const GemmPlan& plan, const Tile& tile) {
  const TileSize size = SizeOf(plan, tile);
  return fmt::format("{}x{}", size.rows, size.vectors);
}

std::string TilesText(const GemmPlan& plan, const std::vector<Tile>& tiles) {
  std::vector<std::string> each;
  for (const Tile& tile : tiles) each.push_back(TileText(plan, tile));
  return fmt::format("{}", fmt::join(each, " and "));
}

namespace {

// Returns what times on worker w alone depend on; empty if the kernel has refused its core.
std::string SettingsAlone(ThreadPool& pool, int w) {
  const ThreadPool::StandIn alone(pool, w);
  return alone.there() ? alone.settings() : "";
}

// Returns the trials of `make` as they are made and measured on worker w alone. Between two of their calls
// the pool is as it was.
MakeTrial Alone(ThreadPool& pool, int w, MakeTrial make) {
  return [&pool, w, make = std::move(make)](size_t i) -> Trial {
    const ThreadPool::StandIn alone(pool, w);
    Trial trial = make(i);
    return {[&pool, w, call_us = std::move(trial.call_us)] {
              const ThreadPool::StandIn there(pool, w);
              return call_us();
            },
            trial.bytes};
  };
}

}  // namespace

ClusterTiles ChooseTiles(Tuner* tuner, const std::string& key, const GemmPlan& plan, int64_t rows,
                         ThreadPool& pool, const std::function<Trial(const Tile&)>& make) {
  const std::vector<int> firsts = pool.FirstOfClusters();
  ClusterTiles chosen;
  for (const int first : firsts) {
    const WorkerSpeed& worker = pool.worker(first);
    const std::vector<Tile> candidates = GemmTiles(plan, rows, worker.in_order);
    chosen.tiles.resize(std::max(chosen.tiles.size(), size_t(worker.cluster) + 1));
    Tile& tile = chosen.tiles[size_t(worker.cluster)] = candidates[0];
    if (!tuner || firsts.size() < 2 || candidates.size() < 2) continue;
    const std::string settings = SettingsAlone(pool, first);
    if (settings.empty()) return {};
    std::vector<std::string> names;
    for (const Tile& candidate : candidates) names.push_back("tile of " + TileText(plan, candidate));
    const Choice choice =
        Choose(tuner, fmt::format("{}, {}", key, settings), names,
               Alone(pool, first, [make, candidates](size_t i) { return make(candidates[i]); }));
    tile = candidates[choice.index];
    chosen.why +=
        fmt::format("{}cores of speed {}: {}", chosen.why.empty() ? "" : "; ", worker.speed, choice.why);
  }
  const bool same = std::all_of(chosen.tiles.begin(), chosen.tiles.end(),
                                [&](const Tile& t) { return t == chosen.tiles[0]; });
  if (same && chosen.tiles[0] == Tile{}) chosen.tiles.clear();
  return chosen;
}

}  // namespace mete
