#include <algorithm>
#include <cmath>

#include "schedule/clusters.h"
#include "schedule/policies.h"
#include "schedule/speeds.h"

namespace mete {
namespace {

class Asymo : public Policy {
 public:
  Asymo(const std::vector<WorkerSpeed>& workers, TakeCost cost)
      : workers_(workers), queues_(workers), seen_(workers, cost), cost_(cost) {}

  void Begin(const Region& region, int64_t now_ns) override {
    count_ = region.Workers(workers_.size());
    queues_.Deal(region.blocks, count_);
    seen_.Begin(region, now_ns);
    pieces_.clear();
    for (size_t c = 0; c < queues_.size(); ++c) pieces_.push_back(PieceOf(c));
  }

  bool NextBlock(int worker, int64_t now_ns, BlockRange* range) override {
    seen_.Finish(worker, now_ns);
    const size_t own = size_t(workers_[size_t(worker)].cluster);
    *range = queues_.TakeFront(own, pieces_[own]);
    if (range->size() == 0) *range = Steal(worker);
    if (range->size() > 0) seen_.Start(worker, *range, now_ns);
    return range->size() > 0;
  }

 private:
  // Returns the blocks that a worker of the cluster takes at a time. This rule is Mete's own: with p pieces
  // per worker, taking costs p times `cost`, and the last piece leaves the others idle for half of its time
  // on average. The sum is least if p is the square root of (the worker's time / 2 / cost). Before times are
  // known, p is 4.
  int64_t PieceOf(size_t cluster) const {
    if (queues_.workers(cluster) == 0) return 1;
    const double share = double(queues_[cluster].size()) / queues_.workers(cluster);
    double pieces = 4;
    for (size_t w = 0; w < count_; ++w)
      if (size_t(workers_[w].cluster) == cluster && seen_.Known())
        pieces = std::sqrt(share * seen_.BlockNs(int(w)) / 2 / double(std::max<int64_t>(cost_.ns, 1)));
    return std::max<int64_t>(1, std::llround(share / std::max(pieces, 1.0)));
  }

  // Steals a piece of another cluster if this worker finishes it before that cluster has emptied its queue.
  BlockRange Steal(int worker) {
    for (size_t c = 0; c < queues_.size(); ++c) {
      if (queues_[c].size() == 0) continue;
      double rate = 0;
      for (size_t w = 0; w < count_; ++w)
        if (size_t(workers_[w].cluster) == c) rate += 1 / seen_.BlockNs(int(w));
      const int64_t piece = std::min(pieces_[c], queues_[c].size());
      if (double(piece) * seen_.BlockNs(worker) <= double(queues_[c].size()) / rate)
        return queues_.TakeBack(c, piece);
    }
    return {};
  }

  const std::vector<WorkerSpeed> workers_;
  ClusterQueues queues_;
  Speeds seen_;
  const TakeCost cost_;
  size_t count_ = 0;             // workers that take part
  std::vector<int64_t> pieces_;  // blocks at a time, by cluster
};

}  // namespace

std::unique_ptr<Policy> MakeAsymo(const std::vector<WorkerSpeed>& workers, TakeCost cost) {
  return std::make_unique<Asymo>(workers, cost);
}

}  // namespace mete
