#include "schedule/clusters.h"

#include <algorithm>
#include <cmath>

namespace mete {

ClusterQueues::ClusterQueues(const std::vector<WorkerSpeed>& workers) : workers_(workers) {
  size_t clusters = 0;
  for (const WorkerSpeed& w : workers) clusters = std::max(clusters, size_t(w.cluster) + 1);
  queues_.resize(clusters);
  speeds_.resize(clusters);
  counts_.resize(clusters);
}

void ClusterQueues::Deal(int64_t blocks, size_t count) {
  std::fill(speeds_.begin(), speeds_.end(), 0);
  std::fill(counts_.begin(), counts_.end(), 0);
  for (size_t w = 0; w < count; ++w) {
    speeds_[size_t(workers_[w].cluster)] += workers_[w].speed;
    ++counts_[size_t(workers_[w].cluster)];
  }
  double all = 0, before = 0;
  for (const double speed : speeds_) all += speed;
  for (size_t c = 0; c < queues_.size(); ++c) {
    queues_[c] = {std::llround(double(blocks) * before / all),
                  std::llround(double(blocks) * (before + speeds_[c]) / all)};
    before += speeds_[c];
  }
}

int64_t ClusterQueues::left() const {
  int64_t n = 0;
  for (const BlockRange& queue : queues_) n += queue.size();
  return n;
}

BlockRange ClusterQueues::TakeFront(size_t cluster, int64_t count) {
  BlockRange& queue = queues_[cluster];
  const BlockRange taken{queue.begin, std::min(queue.end, queue.begin + count)};
  queue.begin = taken.end;
  return taken;
}

BlockRange ClusterQueues::TakeBack(size_t cluster, int64_t count) {
  BlockRange& queue = queues_[cluster];
  const BlockRange taken{std::max(queue.begin, queue.end - count), queue.end};
  queue.end = taken.begin;
  return taken;
}

}  // namespace mete
