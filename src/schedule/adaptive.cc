// Ours. What remains is dealt out such that all workers would be done at once, by the speeds that they have
// shown in this step, in this run and earlier ones, and by when each is free. A worker takes all of its part
// where its times are as expected, and the less the more they vary; what it leaves absorbs what it turns out
// to be slower or faster by. The fastest cluster takes from the front, the others from the back, so that each
// keeps to a contiguous range. A worker leaves to the others what they would be done with before it were.
// Workers that are alike by plan, and not found to differ, take parts of one size, the same in every run.
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
    others_.reserve(workers.size()), dealt_.reserve(workers.size());
    double fastest = 0;
    for (const WorkerSpeed& w : workers)
      if (w.speed > fastest) fastest = w.speed, front_ = w.cluster;
    const auto differs = [&](const WorkerSpeed& w) {
      return w.cluster != workers[0].cluster || w.speed != workers[0].speed;
    };
    alike_ = size_t(std::find_if(workers.begin(), workers.end(), differs) - workers.begin());
  }

  void Begin(const Region& region, int64_t now_ns) override {
    CountTimes();
    left_ = {0, region.blocks}, run_ = region.run;
    blocks_ = region.blocks, begin_ns_ = done_ns_ = now_ns;
    count_ = region.Workers(workers_.size());
    seen_.Begin(region, now_ns);
    counts_ = seen_.Known();
    worth_.Begin(region, OthersBlockNs(), now_ns);
    gone_.assign(workers_.size(), false);
    for (size_t w = 0; w < count_; ++w)
      if (worth_.LeftOut(int(w))) gone_[w] = true, seen_.LeaveOut(int(w));
  }

  bool Takes(int worker) const override { return !gone_[size_t(worker)]; }

  bool NextBlock(int worker, int64_t now_ns, BlockRange* range) override {
    if (seen_.Finish(worker, now_ns)) worth_.Done(worker, now_ns), done_ns_ = now_ns;
    if (gone_[size_t(worker)]) return false;
    worth_.Asks(worker);
    Gather(worker, now_ns);
    int64_t count = Count(worker);
    if (count == 0 && left_.size() > 0 && worker == worth_.stays() && !AnotherIsHere(worker)) count = 1;
    if (count == 0) return gone_[size_t(worker)] = true, false;
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
  // Of the last region, if nobody has yet; the first run of a region says nothing of how it is usually.
  void CountTimes() {
    if (done_ns_ > begin_ns_ && counts_) {
      times_.together_ns += double(done_ns_ - begin_ns_);
      times_.alone_ns += seen_.TakeNs(0) + double(blocks_) * seen_.BlockNs(0);
    }
    begin_ns_ = done_ns_;
  }

  struct Start {
    double in_ns, rate;  // when a worker can begin, from now on; blocks a nanosecond from then on
  };

  Start StartOf(int worker, int64_t now_ns) const {
    return {seen_.FreeInNs(worker, now_ns) + seen_.TakeNs(worker), 1 / seen_.BlockNs(worker)};
  }

  // Of each worker, how long all others together take for a block; 0 where nobody knows.
  const std::vector<double>& OthersBlockNs() {
    others_block_ns_.assign(count_, 0);
    if (!seen_.Known() || count_ == 1) return others_block_ns_;
    double rate = 0;
    for (size_t w = 0; w < count_; ++w) rate += 1 / seen_.BlockNs(int(w));
    for (size_t w = 0; w < count_; ++w) others_block_ns_[w] = 1 / (rate - 1 / seen_.BlockNs(int(w)));
    return others_block_ns_;
  }

  // When the others can begin, the first one first.
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

  // Else nobody may come for what the fastest would leave to others: one that is not running just now is late
  // for as long as that lasts.
  bool AnotherIsHere(int worker) const {
    for (size_t v = 0; v < count_; ++v)
      if (int(v) != worker && !gone_[v] && seen_.Asked(int(v))) return true;
    return false;
  }

  // Workers for whom a block shall be left; not too many at a time.
  int64_t OthersDue(int worker) const {
    int64_t due = 0;
    for (size_t v = 0; v < count_; ++v) due += int(v) != worker && !gone_[v] && seen_.IsDue(int(v));
    return std::min(due, std::max<int64_t>(1, left_.size() / 8));
  }

  bool Alike() const { return count_ <= alike_; }  // the workers of this region, by plan

  bool FromFront(int worker) const {
    return Alike() ? 2 * size_t(worker) < count_ : workers_[size_t(worker)].cluster == front_;
  }

  // Of those who share the region, how many times as long even parts take as the best ones, by what the
  // workers are worth usually.
  double EvenOverBest() const {
    double slowest = 0, rate = 0;
    for (size_t v = 0; v < count_; ++v)
      if (!worth_.LeftOut(int(v)))
        slowest = std::max(slowest, seen_.UsualFactor(int(v))), rate += 1 / seen_.UsualFactor(int(v));
    return slowest * rate / double(Sharers(count_));
  }

  int64_t Sharers(size_t before) const {  // of the first so many workers
    int64_t sharers = 0;
    for (size_t v = 0; v < before; ++v) sharers += !worth_.LeftOut(int(v));
    return sharers;
  }

  // What a worker takes first where all are alike by plan: as much as the others and, of two workers, always
  // the same blocks. Shares that follow what is but noise leave somebody waiting, and inputs in other caches:
  // on two equal cores of a shared machine they cost MobileNet v2 6 % (measured). Not where that would take
  // longer than with the `best` number of blocks by more than what was seen varies by. 0: not here.
  int64_t EvenSlice(int worker, int64_t best) const {
    // Guesses: it is no noise where a worker is slower by a fifth in all regions; it may be up to twice what
    // its times are off by here.
    constexpr double kUsually = 1.1, kLeast = 1.05, kMost = 1.3;
    if (!Alike() || seen_.Computed(worker) || seen_.WasIdle(worker) || EvenOverBest() > kUsually) return 0;
    const int64_t sharers = Sharers(count_),
                  slice = (blocks_ + sharers - 1 - Sharers(size_t(worker))) / sharers;
    if (slice > std::min(left_.size(), seen_.Trusted(worker))) return 0;
    const double noise = std::min(kLeast + 2 * seen_.Spread(worker), kMost);
    const double rounding = Fractions(left_.size() - best) ? seen_.BlockNs(worker) : 0;
    return Makespan(worker, slice) < noise * Makespan(worker, best) + rounding ? slice : 0;
  }

  // The most blocks up to `count` that a worker can take without cutting a run; may be none.
  int64_t Whole(int worker, int64_t count) const {
    const int64_t edge = FromFront(worker) ? left_.begin + count : left_.end - count;
    const int64_t down = edge % run_, cut = FromFront(worker) ? down : (run_ - down) % run_;
    return std::max<int64_t>(count - cut, 0);
  }

  // Of a worker's share, what it takes at once while no times are known. Guess.
  static constexpr double kUnknownPart = 0.6;

  // Blocks that a worker would compute from now on if all were done at once. Those who would not be free
  // before that get nothing.
  double Share(int worker) const {
    const Start own{seen_.TakeNs(worker), 1 / seen_.BlockNs(worker)};
    return std::max(0.0, DoneIn(double(left_.size()), &own) - own.in_ns) * own.rate;
  }

  // In how long `blocks` would be done at the earliest by the others, and by one more.
  double DoneIn(double blocks, const Start* more) const {
    double rate = 0, sum = 0, done = 0;
    // blocks = sum of (done - start) * rate over those who begin before it is done
    const auto joins = [&](const Start& s) {
      if (rate > 0 && s.in_ns >= done) return false;
      rate += s.rate, sum += s.rate * s.in_ns;
      done = (blocks + sum) / rate;
      return true;
    };
    for (const Start& s : others_) {
      if (more && more->in_ns <= s.in_ns) joins(*more), more = nullptr;
      if (!joins(s)) break;
    }
    if (more) joins(*more);
    return done;
  }

  // The number of blocks near `share` with which all are done the soonest.
  int64_t Rounded(int worker, double share) const {
    const int64_t low = std::min(int64_t(share), left_.size()), whole = Whole(worker, low);
    int64_t best = 0;
    double soonest = Makespan(worker, 0);
    for (const int64_t count : {whole, whole + run_, low, low + 1}) {
      if (count <= 0 || count > left_.size()) continue;
      const double done = Makespan(worker, count);
      if (done < soonest || (done == soonest && Own(worker, count) < done)) soonest = done, best = count;
    }
    return best;
  }

  // What a cut within a run costs this worker, and those who take the rest as well.
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

  // Few blocks are dealt out one by one: a share of a block is none.
  bool Fractions(int64_t blocks) const {
    constexpr size_t kFewWorkers = 16;  // guess: it takes blocks x workers steps, with the pool's lock held
    return others_.size() > kFewWorkers || blocks > 2 * int64_t(others_.size());
  }

  double RestDoneIn(int64_t blocks) const {  // by the others
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

  // Twice what it has been off by of late; nothing where what is lost by that is less than what taking more
  // often costs: both ends of the range that is left take once or twice more.
  double HeldBack(int worker, double part) const {
    // guess; of 4, 8 and 15 none was better beyond the noise, and 15 recovers later from a disturbance
    constexpr double kTakes = 8;
    const double off = seen_.Spread(worker) * part, take = std::max(seen_.TakeNs(worker), double(cost_.ns));
    return off * seen_.BlockNs(worker) < kTakes * take ? 0 : std::min(2 * off, (1 - kUnknownPart) * part);
  }

  const std::vector<WorkerSpeed> workers_;
  Speeds seen_;
  Worth worth_;
  const TakeCost cost_;
  size_t alike_ = 0;  // the first so many workers are of one cluster and one speed
  int front_ = 0;     // cluster
  size_t count_ = 0;  // workers who take part
  BlockRange left_;
  int64_t run_ = 1;
  Times times_;                                      // of the regions that are counted
  int64_t blocks_ = 0, begin_ns_ = 0, done_ns_ = 0;  // of the last region
  bool counts_ = false;                              // not its first run
  std::vector<bool> gone_;                           // workers that this region has nothing more for
  std::vector<double> others_block_ns_;
  std::vector<Start> others_;         // than the one that asks, who still take
  mutable std::vector<Start> dealt_;  // of RestDoneIn alone
};

}  // namespace

std::unique_ptr<Policy> MakeAdaptive(std::vector<WorkerSpeed> workers, TakeCost cost) {
  return std::make_unique<Adaptive>(workers, cost);
}

}  // namespace mete
