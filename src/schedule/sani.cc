#include <algorithm>
#include <numeric>

#include "schedule/clusters.h"
#include "schedule/policies.h"
#include "schedule/speeds.h"

namespace mete {
namespace {

// One block of the SANI paper is two blocks (kWhole) of a region, so that a counter of 1 stands for half a
// block: the block is split.
class Sani : public Policy {
 public:
  explicit Sani(const std::vector<WorkerSpeed>& workers)
      : workers_(workers),
        queues_(workers),
        seen_(workers, {}),
        at_a_time_(workers.size(), kWhole),
        took_(workers.size(), 0),
        by_speed_(workers.size()) {}

  void Begin(const Region& region, int64_t now_ns) override {
    count_ = region.Workers(workers_.size());
    by_speed_.resize(count_);
    std::iota(by_speed_.begin(), by_speed_.end(), 0);
    queues_.Deal(region.blocks, count_);
    seen_.Begin(region, now_ns);
    std::fill(at_a_time_.begin(), at_a_time_.end(), kWhole);
    std::fill(took_.begin(), took_.end(), 0);
    round_ = 0;
  }

  bool NextBlock(int worker, int64_t now_ns, BlockRange* range) override {
    seen_.Finish(worker, now_ns);
    if (++took_[size_t(worker)] > round_ + 1 && EverybodyTook()) Adjust();
    const size_t own = size_t(workers_[size_t(worker)].cluster);
    *range = queues_.TakeFront(own, at_a_time_[size_t(worker)]);
    for (size_t c = 0; c < queues_.size() && range->size() == 0; ++c)
      *range = queues_.TakeBack(c, at_a_time_[size_t(worker)]);
    if (range->size() > 0) seen_.Start(worker, *range, now_ns);
    return range->size() > 0;
  }

 private:
  static constexpr int64_t kWhole = 2;

  bool EverybodyTook() const {
    return *std::min_element(took_.begin(), took_.begin() + std::ptrdiff_t(count_)) > round_;
  }

  // Ends a round: from now on the k fastest workers take one block more at a time, the k slowest one block
  // less. That k is a quarter of the workers is Mete's own choice.
  void Adjust() {
    ++round_;
    std::sort(by_speed_.begin(), by_speed_.end(),
              [&](int a, int b) { return std::pair(seen_.BlockNs(a), a) < std::pair(seen_.BlockNs(b), b); });
    const size_t k = count_ < 2 ? 0 : std::max<size_t>(1, count_ / 4);
    for (size_t i = 0; i < k; ++i) {
      at_a_time_[size_t(by_speed_[i])] += kWhole;
      int64_t& slow = at_a_time_[size_t(by_speed_[count_ - 1 - i])];
      slow = slow > kWhole ? slow - kWhole : 1;  // below one whole block, the block is split
    }
  }

  const std::vector<WorkerSpeed> workers_;
  ClusterQueues queues_;
  Speeds seen_;
  std::vector<int64_t> at_a_time_;  // by worker: blocks that it takes at a time
  std::vector<int64_t> took_;       // by worker: how often it has taken blocks in this region
  std::vector<int> by_speed_;       // workers that take part, the fastest first
  size_t count_ = 0;                // number of workers that take part
  int64_t round_ = 0;
};

}  // namespace

std::unique_ptr<Policy> MakeSani(const std::vector<WorkerSpeed>& workers) {
  return std::make_unique<Sani>(workers);
}

}  // namespace mete
