// Queues of blocks, one per cluster, that are filled in proportion to the clusters' speeds. The policies
// asymo and sani use them.
#pragma once

#include <vector>

#include "schedule/policy.h"

namespace mete {

class ClusterQueues {
 public:
  explicit ClusterQueues(const std::vector<WorkerSpeed>& workers);

  // Divides the blocks into contiguous parts, one per cluster, in proportion to the speeds of those of the
  // first `count` workers that are in the cluster.
  void Deal(int64_t blocks, size_t count);

  size_t size() const { return queues_.size(); }
  const BlockRange& operator[](size_t cluster) const { return queues_[cluster]; }
  int workers(size_t cluster) const { return counts_[cluster]; }  // workers that take part
  int64_t left() const;                                           // blocks left in all queues

  // Take the next `count` blocks of a cluster, or as many as are left: from the front for the cluster's own
  // workers, from the back for others.
  BlockRange TakeFront(size_t cluster, int64_t count);
  BlockRange TakeBack(size_t cluster, int64_t count);

 private:
  const std::vector<WorkerSpeed> workers_;
  std::vector<BlockRange> queues_;
  std::vector<double> speeds_;  // by cluster: the sum over its workers that take part
  std::vector<int> counts_;
};

}  // namespace mete
