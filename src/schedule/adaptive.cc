// The policy `adaptive`, which is Mete's own. The remaining blocks are divided so that all workers would
// finish at the same time, given their speeds in this region, observed in this run and earlier ones, and the
// time at which each is free. A worker takes its whole part at once if its times are as expected, and less
// the more they vary; the remaining blocks compensate for the difference. The fastest cluster takes from the
// front and the others from the back, so that each keeps to a contiguous range. A worker takes nothing if the
// others would finish the remaining blocks sooner without it. Workers that are alike by plan, and were not
// observed to differ, take parts of equal size, the same in every run.
#include <algorithm>
#include <cmath>
#include <utility>

#include "schedule/policies.h"
#include "schedule/speeds.h"
#include "schedule/worth.h"

namespace mete {
namespace {

class Adaptive : public Policy {
 public:
  Adaptive(const std::vector<WorkerSpeed>& workers, TakeCost cost)
      : workers_(workers), seen_(workers, cost), worth_(workers), cost_(cost) {
    others_.reserve(workers.size());
    dealt_.reserve(workers.size());
    double fastest = 0;
    for (const WorkerSpeed& w : workers)
      if (w.speed > fastest) {
        fastest = w.speed;
        front_ = w.cluster;
      }
    const auto differs = [&](const WorkerSpeed& w) {
      return w.cluster != workers[0].cluster || w.speed != workers[0].speed;
    };
    alike_ = size_t(std::find_if(workers.begin(), workers.end(), differs) - workers.begin());
  }

  void Begin(const Region& region, int64_t now_ns) override {
    CountTimes();
    left_ = {0, region.blocks};
    run_ = region.run;
    blocks_ = region.blocks;
    begin_ns_ = done_ns_ = now_ns;
    count_ = region.Workers(workers_.size());
    seen_.Begin(region, now_ns);
    counts_ = seen_.Known();
    worth_.Begin(region, OthersBlockNs(), now_ns);
    gone_.assign(workers_.size(), false);
    for (size_t w = 0; w < count_; ++w)
      if (worth_.LeftOut(int(w))) {
        gone_[w] = true;
        seen_.LeaveOut(int(w));
      }
  }

  bool Takes(int worker) const override { return !gone_[size_t(worker)]; }

  bool NextBlock(int worker, int64_t now_ns, BlockRange* range) override {
    if (seen_.Finish(worker, now_ns)) {
      worth_.Done(worker, now_ns);
      done_ns_ = now_ns;
    }
    if (gone_[size_t(worker)]) return false;
    worth_.Asks(worker);
    Gather(worker, now_ns);
    int64_t count = Count(worker);
    if (count == 0 && left_.size() > 0 && worker == worth_.stays() && !AnotherIsHere(worker)) count = 1;
    if (count == 0) {
      gone_[size_t(worker)] = true;
      return false;
    }
    if (FromFront(worker)) {
      *range = {left_.begin, left_.begin + count};
      left_.begin = range->end;
    } else {
      *range = {left_.end - count, left_.end};
      left_.end = range->begin;
    }
    seen_.Start(worker, *range, now_ns);
    worth_.Took(worker, count);
    return true;
  }

  Times TakeTimes() override {
    CountTimes();
    return std::exchange(times_, {});
  }

 private:
  // Adds the times of the last region, if they have not been added yet. The first run of a region is not
  // counted, because it is not typical.
  void CountTimes() {
    if (done_ns_ > begin_ns_ && counts_) {
      times_.together_ns += double(done_ns_ - begin_ns_);
      times_.alone_ns += seen_.TakeNs(0) + double(blocks_) * seen_.BlockNs(0);
    }
    begin_ns_ = done_ns_;
  }

  struct Start {
    double in_ns, rate;  // nanoseconds until a worker can begin, and its blocks per nanosecond after that
  };

  Start StartOf(int worker, int64_t now_ns) const {
    return {seen_.FreeInNs(worker, now_ns) + seen_.TakeNs(worker), 1 / seen_.BlockNs(worker)};
  }

  // Returns, for each worker, the time that all others together take for a block; 0 if it is unknown.
  const std::vector<double>& OthersBlockNs() {
    others_block_ns_.assign(count_, 0);
    if (!seen_.Known() || count_ == 1) return others_block_ns_;
    double rate = 0;
    for (size_t w = 0; w < count_; ++w) rate += 1 / seen_.BlockNs(int(w));
    for (size_t w = 0; w < count_; ++w) others_block_ns_[w] = 1 / (rate - 1 / seen_.BlockNs(int(w)));
    return others_block_ns_;
  }

  // Collects when the other workers can begin, the earliest first.
  void Gather(int worker, int64_t now_ns) {
    others_.clear();
    for (size_t v = 0; v < count_; ++v)
      if (int(v) != worker && !gone_[v]) others_.push_back(StartOf(int(v), now_ns));
    std::sort(others_.begin(), others_.end(),
              [](const Start& a, const Start& b) { return a.in_ns < b.in_ns; });
  }

  int64_t Count(int worker) const {
    const int64_t left = left_.size();
    if (left == 0 || others_.empty()) return left;
    if (seen_.IsDue(worker)) return 1;
    const double share = Share(worker);
    if (!seen_.Known()) return std::clamp<int64_t>(std::llround(kUnknownPart * share), 1, left);
    const int64_t best = Rounded(worker, share);
    if (const int64_t slice = EvenSlice(worker, best); slice > 0) return slice;
    const int64_t most =
        std::min(std::max<int64_t>(left - OthersDue(worker), 1), std::max(seen_.Trusted(worker), run_));
    const int64_t part = std::min(best, most);
    if (seen_.WasIdle(worker)) return std::min<int64_t>(part, 1);
    const int64_t rest = Whole(worker, part - std::llround(HeldBack(worker, double(part))));
    return rest > 0 ? rest : part;
  }

  // Returns true if another worker has asked in this region and may still take blocks. If none has, the
  // fastest worker must not leave blocks to the others: a thread that is not running at the moment may come
  // much later.
  bool AnotherIsHere(int worker) const {
    for (size_t v = 0; v < count_; ++v)
      if (int(v) != worker && !gone_[v] && seen_.Asked(int(v))) return true;
    return false;
  }

  // Returns the number of workers that are due for a trial and for which a block is left; it is bounded.
  int64_t OthersDue(int worker) const {
    int64_t due = 0;
    for (size_t v = 0; v < count_; ++v) due += int(v) != worker && !gone_[v] && seen_.IsDue(int(v));
    return std::min(due, std::max<int64_t>(1, left_.size() / 8));
  }

  bool Alike() const { return count_ <= alike_; }  // true if all workers of this region are alike by plan

  bool FromFront(int worker) const {
    return Alike() ? 2 * size_t(worker) < count_ : workers_[size_t(worker)].cluster == front_;
  }

  // Returns how many times as long equal parts take as the best parts, by the usual factors of the workers
  // that share the region.
  double EvenOverBest() const {
    double slowest = 0, rate = 0;
    for (size_t v = 0; v < count_; ++v)
      if (!worth_.LeftOut(int(v))) {
        slowest = std::max(slowest, seen_.UsualFactor(int(v)));
        rate += 1 / seen_.UsualFactor(int(v));
      }
    return slowest * rate / double(Sharers(count_));
  }

  int64_t Sharers(size_t before) const {  // returns how many of the first `before` workers are not left out
    int64_t sharers = 0;
    for (size_t v = 0; v < before; ++v) sharers += !worth_.LeftOut(int(v));
    return sharers;
  }

  // Returns the number of blocks that a worker takes first if all workers are alike by plan: as many as the
  // others take, and, of two workers, always the same blocks. Parts that follow mere noise make a worker wait
  // and leave inputs in other caches: on two equal cores of a shared machine they cost MobileNet v2 6 %
  // (measured). Returns 0 if this rule does not apply, for example if the slice would take longer than the
  // `best` number of blocks by more than the observed times vary.
  int64_t EvenSlice(int worker, int64_t best) const {
    // These values are guesses: a worker that is slower by a fifth in all regions differs by more than noise,
    // and noise may be up to twice the average deviation of the worker's times in this region.
    constexpr double kUsually = 1.1, kLeast = 1.05, kMost = 1.3;
    if (!Alike() || seen_.Computed(worker) || seen_.WasIdle(worker) || EvenOverBest() > kUsually) return 0;
    const int64_t sharers = Sharers(count_),
                  slice = (blocks_ + sharers - 1 - Sharers(size_t(worker))) / sharers;
    if (slice > std::min(left_.size(), seen_.Trusted(worker))) return 0;
    const double noise = std::min(kLeast + 2 * seen_.Spread(worker), kMost);
    const double rounding = Fractions(left_.size() - best) ? seen_.BlockNs(worker) : 0;
    return Makespan(worker, slice) < noise * Makespan(worker, best) + rounding ? slice : 0;
  }

  // Returns the most blocks up to `count` that a worker can take without cutting a run; it may be 0.
  int64_t Whole(int worker, int64_t count) const {
    const int64_t edge = FromFront(worker) ? left_.begin + count : left_.end - count;
    const int64_t down = edge % run_, cut = FromFront(worker) ? down : (run_ - down) % run_;
    return std::max<int64_t>(count - cut, 0);
  }

  // The fraction of its share that a worker takes at once while no times are known. This value is a guess.
  static constexpr double kUnknownPart = 0.6;

  // Returns the blocks that a worker would compute from now on if all workers finished at the same time. A
  // worker that would not be free before that time gets none.
  double Share(int worker) const {
    const Start own{seen_.TakeNs(worker), 1 / seen_.BlockNs(worker)};
    return std::max(0.0, DoneIn(double(left_.size()), &own) - own.in_ns) * own.rate;
  }

  // Returns the least time in which the others, and the worker `more` if it is not null, would finish
  // `blocks`.
  double DoneIn(double blocks, const Start* more) const {
    double rate = 0, sum = 0, done = 0;
    // `done` solves blocks = sum of (done - start) * rate over the workers that begin before `done`.
    const auto joins = [&](const Start& s) {
      if (rate > 0 && s.in_ns >= done) return false;
      rate += s.rate;
      sum += s.rate * s.in_ns;
      done = (blocks + sum) / rate;
      return true;
    };
    for (const Start& s : others_) {
      if (more && more->in_ns <= s.in_ns) {
        joins(*more);
        more = nullptr;
      }
      if (!joins(s)) break;
    }
    if (more) joins(*more);
    return done;
  }

  // Returns the number of blocks near `share` with the least makespan.
  int64_t Rounded(int worker, double share) const {
    const int64_t low = std::min(int64_t(share), left_.size()), whole = Whole(worker, low);
    int64_t best = 0;
    double soonest = Makespan(worker, 0);
    for (const int64_t count : {whole, whole + run_, low, low + 1}) {
      if (count <= 0 || count > left_.size()) continue;
      const double done = Makespan(worker, count);
      if (done < soonest || (done == soonest && Own(worker, count) < done)) {
        soonest = done;
        best = count;
      }
    }
    return best;
  }

  // Returns the cost of a cut within a run for this worker; the workers that take the rest pay the same.
  double CutNs(int worker, int64_t count) const {
    return count > 0 && count < left_.size() && Whole(worker, count) != count ? seen_.CutNs(worker) : 0;
  }

  double Own(int worker, int64_t count) const {
    return count == 0 ? 0
                      : seen_.TakeNs(worker) + CutNs(worker, count) + double(count) * seen_.BlockNs(worker);
  }

  double Makespan(int worker, int64_t count) const {
    const int64_t rest = left_.size() - count;
    const double own = Own(worker, count);
    return rest == 0 ? own : std::max(own, RestDoneIn(rest) + CutNs(worker, count));
  }

  // Returns true if there are enough `blocks` to divide them into fractions. Few blocks are assigned one
  // by one, because a worker cannot compute a fraction of a block.
  bool Fractions(int64_t blocks) const {
    // This value is a guess: the assignment takes blocks x workers steps, while the pool's lock is held.
    constexpr size_t kFewWorkers = 16;
    return others_.size() > kFewWorkers || blocks > 2 * int64_t(others_.size());
  }

  double RestDoneIn(int64_t blocks) const {  // returns the time in which the others would finish `blocks`
    if (Fractions(blocks)) return DoneIn(double(blocks), nullptr);
    dealt_ = others_;
    double done = 0;
    for (int64_t b = 0; b < blocks; ++b) {
      const auto next = std::min_element(dealt_.begin(), dealt_.end(), [](const Start& x, const Start& y) {
        return x.in_ns + 1 / x.rate < y.in_ns + 1 / y.rate;
      });
      next->in_ns += 1 / next->rate;
      done = std::max(done, next->in_ns);
    }
    return done;
  }

  // Returns the blocks of its part that a worker does not take at once: twice the recent deviation of its
  // times. Returns 0 if the deviation costs less time than further takes would: the workers at both ends of
  // the remaining range would take once or twice more.
  double HeldBack(int worker, double part) const {
    // This value is a guess: of 4, 8 and 15 none was better by more than noise, and 15 recovers later from a
    // disturbance.
    constexpr double kTakes = 8;
    const double off = seen_.Spread(worker) * part, take = std::max(seen_.TakeNs(worker), double(cost_.ns));
    return off * seen_.BlockNs(worker) < kTakes * take ? 0 : std::min(2 * off, (1 - kUnknownPart) * part);
  }

  const std::vector<WorkerSpeed> workers_;
  Speeds seen_;
  Worth worth_;
  const TakeCost cost_;
  size_t alike_ = 0;  // the first `alike_` workers have one cluster and one speed
  int front_ = 0;     // the cluster that takes from the front
  size_t count_ = 0;  // workers that take part
  BlockRange left_;
  int64_t run_ = 1;
  Times times_;                                      // sums over the counted regions
  int64_t blocks_ = 0, begin_ns_ = 0, done_ns_ = 0;  // blocks and times of the last region
  bool counts_ = false;                              // true if this is not the first run of the region
  std::vector<bool> gone_;                           // workers that get no more blocks of this region
  std::vector<double> others_block_ns_;
  std::vector<Start> others_;         // workers other than the one that asks that still take blocks
  mutable std::vector<Start> dealt_;  // temporary storage of RestDoneIn
};

}  // namespace

std::unique_ptr<Policy> MakeAdaptive(const std::vector<WorkerSpeed>& workers, TakeCost cost) {
  return std::make_unique<Adaptive>(workers, cost);
}

}  // namespace mete
