// Ours. Each worker takes a share of what remains in proportion to its speed as seen so far, large pieces first and small ones last. The
// fastest cluster takes from the front, the others from the back, so that each keeps to a contiguous range. A worker leaves a block to
// the others if they would be done with all of it before this worker were.
#include <algorithm>
#include <cmath>

#include "schedule/policies.h"
#include "schedule/speeds.h"

namespace mete {
namespace {

class Adaptive : public Policy {
 public:
  Adaptive(const std::vector<WorkerSpeed>& workers, TakeCost cost) : workers_(workers), seen_(workers), cost_(cost) {
    double fastest = 0;
    for (const WorkerSpeed& w : workers)
      if (w.speed > fastest) fastest = w.speed, front_ = w.cluster;
  }

  void Begin(const Region& region, int64_t now_ns) override {
    left_ = {0, region.blocks};
    seen_.Begin(region.id, now_ns);
    gone_.assign(workers_.size(), false);
  }

  bool NextBlock(int worker, int64_t now_ns, BlockRange* range) override {
    seen_.Finish(worker, now_ns);
    const int64_t count = Count(worker, now_ns);
    if (count == 0) return gone_[size_t(worker)] = true, false;
    if (workers_[size_t(worker)].cluster == front_) {
      *range = {left_.begin, left_.begin + count};
      left_.begin = range->end;
    } else {
      *range = {left_.end - count, left_.end};
      left_.end = range->begin;
    }
    seen_.Start(worker, count, now_ns);
    return true;
  }

 private:
  int64_t Count(int worker, int64_t now_ns) const {
    // Of a worker's share, what it takes at once: the rest absorbs what it turns out to be slower or faster by. A smaller part takes
    // more often, a larger one leaves less to balance with.
    constexpr double kPart = 0.6;
    const int64_t left = left_.size();
    if (left == 0) return 0;
    const double own = seen_.BlockNs(worker);
    if (Alone(worker)) return left;
    double rate = 0;
    for (size_t v = 0; v < workers_.size(); ++v)
      if (!gone_[v]) rate += 1 / seen_.BlockNs(int(v));
    const int64_t share = std::llround(kPart * double(left) / own / rate);
    // A piece shall take ten times as long as taking it; unknown times count as long.
    const int64_t least = seen_.Known() ? std::llround(10 * double(cost_.ns) / own) : 1;
    const int64_t count = std::clamp<int64_t>(std::max(share, least), 1, left);
    return Worthwhile(worker, count, now_ns) ? count : Worthwhile(worker, 1, now_ns) ? 1 : 0;
  }

  bool Alone(int worker) const {
    for (size_t v = 0; v < gone_.size(); ++v)
      if (int(v) != worker && !gone_[v]) return false;
    return true;
  }

  // Whether this worker is done with `count` blocks no later than the others were with all that is left.
  bool Worthwhile(int worker, int64_t count, int64_t now_ns) const {
    const double done = double(now_ns) + double(count) * seen_.BlockNs(worker);
    double blocks = 0;  // that the others can compute until then
    for (size_t v = 0; v < workers_.size(); ++v) {
      if (int(v) == worker || gone_[v]) continue;
      blocks += std::max(0.0, done - seen_.FreeAtNs(int(v), now_ns)) / seen_.BlockNs(int(v));
    }
    return blocks <= double(left_.size());
  }

  const std::vector<WorkerSpeed> workers_;
  Speeds seen_;
  const TakeCost cost_;
  int front_ = 0;            // cluster
  BlockRange left_;
  std::vector<bool> gone_;   // workers that this region has nothing more for
};

}  // namespace

std::unique_ptr<Policy> MakeAdaptive(std::vector<WorkerSpeed> workers, TakeCost cost) { return std::make_unique<Adaptive>(workers, cost); }

}  // namespace mete
