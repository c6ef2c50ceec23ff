// What the policies with a queue for each cluster share: blocks dealt out in proportion to the clusters'
// speeds.
#pragma once

#include <vector>

#include "schedule/policy.h"

namespace mete {

class ClusterQueues {
 public:
  explicit ClusterQueues(const std::vector<WorkerSpeed>& workers);

  // Contiguous parts, a cluster after the other, to the first `count` workers.
  void Deal(int64_t blocks, size_t count);

  size_t size() const { return queues_.size(); }
  const BlockRange& operator[](size_t cluster) const { return queues_[cluster]; }
  int workers(size_t cluster) const { return counts_[cluster]; }  // who take part
  int64_t left() const;

  // The next `count` blocks of a cluster, or as many as there are: from the front for its own workers, from
  // the back for others.
  BlockRange TakeFront(size_t cluster, int64_t count);
  BlockRange TakeBack(size_t cluster, int64_t count);

 private:
  const std::vector<WorkerSpeed> workers_;
  std::vector<BlockRange> queues_;
  std::vector<double> speeds_;  // by cluster, of its workers who take part, together
  std::vector<int> counts_;
};

}  // namespace mete
