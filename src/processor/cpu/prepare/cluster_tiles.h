// Chooses the register tile of each cluster: cores of one kind may be fastest with another tile than cores of
// another kind. All tiles compute the same bits from the same packed weights, so that any core may compute
// any block.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/fast/conv/conv.h"
#include "processor/cpu/threads/thread_pool.h"
#include "processor/tuning/tuner.h"

namespace mete {

struct ClusterTiles {
  std::vector<Tile> tiles;  // indexed by WorkerSpeed::cluster; empty: the largest tile for all clusters
  std::string why;          // for people; empty where there was only one candidate
};

// Measures which tile is the fastest on each cluster, if there is a tuner and the threads of the prepared
// step are of several clusters; otherwise takes the first of GemmTiles() for each cluster's kind of core. The
// first worker of each cluster is measured alone, with its share of the node. `key` describes all else that
// the times depend on. `rows` is the number of rows of the product.
ClusterTiles ChooseTiles(Tuner* tuner, const std::string& key, const GemmPlan& plan, int64_t rows,
                         ThreadPool& pool, const std::function<Trial(const Tile&)>& make);

// TileText() returns "6x4": rows x vectors of the largest tile in use. TilesText() returns this for each
// cluster: "6x4 and 8x2".
std::string TileText(const GemmPlan& plan, const Tile& tile);
std::string TilesText(const GemmPlan& plan, const std::vector<Tile>& tiles);

inline void SetTile(GemmPlan& plan, const Tile& tile) { plan.tile = tile; }
inline void SetTile(ConvPlan& plan, const Tile& tile) { plan.gemm.tile = tile; }

// A plan for each worker, with the tile of the worker's cluster. `tiles`: of ClusterTiles.
template <class Plan>
class WorkerPlans {
 public:
  WorkerPlans(const Plan& plan, const std::vector<Tile>& tiles, const ThreadPool& pool)
      : plans_(size_t(pool.threads()), plan) {
    for (size_t w = 0; w < plans_.size(); ++w)
      if (const size_t cluster = size_t(pool.worker(int(w)).cluster); cluster < tiles.size())
        SetTile(plans_[w], tiles[cluster]);
  }

  const Plan& any() const { return plans_[0]; }  // for everything but the tile
  const Plan& of(int worker) const { return plans_[size_t(worker)]; }

 private:
  std::vector<Plan> plans_;
};

}  // namespace mete
