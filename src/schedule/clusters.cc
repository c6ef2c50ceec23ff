#include "schedule/clusters.h"

#include <algorithm>
#include <cmath>

namespace mete {

ClusterQueues::ClusterQueues(const std::vector<WorkerSpeed>& workers) {
  for (const WorkerSpeed& w : workers) {
    const size_t cluster = size_t(w.cluster);
    if (cluster >= queues_.size()) queues_.resize(cluster + 1), speeds_.resize(cluster + 1), workers_.resize(cluster + 1);
    speeds_[cluster] += w.speed, ++workers_[cluster];
  }
}

void ClusterQueues::Deal(int64_t blocks) {
  double all = 0, before = 0;
  for (const double speed : speeds_) all += speed;
  for (size_t c = 0; c < queues_.size(); ++c) {
    queues_[c] = {std::llround(double(blocks) * before / all), std::llround(double(blocks) * (before + speeds_[c]) / all)};
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
