// The register tile of each cluster: cores of one kind may compute fastest with another tile than those of
// the next, and all tiles compute the same bits from the same packed weights, so that any core may take any
// block.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/fast/conv/conv.h"
#include "processor/cpu/threads/thread_pool.h"
#include "processor/cpu/prepare/tuner.h"

namespace mete {

struct ClusterTiles {
  std::vector<Tile> tiles;  // by WorkerSpeed::cluster; empty: the largest for all
  std::string why;          // for people; empty where there was nothing to choose
};

// The fastest by time, where there is a tuner and the threads of the step that is prepared are of several
// clusters: measured on the first worker of each cluster alone, with its share of the node. `key`: all else
// that the times depend on. `rows`: of the product.
ClusterTiles ChooseTiles(Tuner* tuner, const std::string& key, const GemmPlan& plan, int64_t rows,
                         ThreadPool& pool, const std::function<Trial(const Tile&)>& make);

// "6x4": rows x vectors of the largest one in use. Of each cluster: "6x4 and 8x2".
std::string TileText(const GemmPlan& plan, const Tile& tile);
std::string TilesText(const GemmPlan& plan, const std::vector<Tile>& tiles);

inline void SetTile(GemmPlan& plan, const Tile& tile) { plan.tile = tile; }
inline void SetTile(ConvPlan& plan, const Tile& tile) { plan.gemm.tile = tile; }

// A plan as each worker computes it. `tiles`: of ClusterTiles.
template <class Plan>
class WorkerPlans {
 public:
  WorkerPlans(const Plan& plan, const std::vector<Tile>& tiles, const ThreadPool& pool)
      : plans_(size_t(pool.threads()), plan) {
    for (size_t w = 0; w < plans_.size(); ++w)
      if (const size_t cluster = size_t(pool.worker(int(w)).cluster); cluster < tiles.size())
        SetTile(plans_[w], tiles[cluster]);
  }

  const Plan& any() const { return plans_[0]; }  // for all but the tile
  const Plan& of(int worker) const { return plans_[size_t(worker)]; }

 private:
  std::vector<Plan> plans_;
};

}  // namespace mete
