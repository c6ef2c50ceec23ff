// What else runs on the cores of a simulated machine and takes time from the model.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace mete {

// Other work takes `share` of the time of some cores.
struct Interference {
  enum class Kind {
    // the time is taken evenly, as by a second model whose threads the kernel runs in turns with ours, in
    // slices too short to see
    kSteady,
    kPeriodic,  // the beginning of every period is taken, as by a real-time load
    // pieces and pauses have exponentially distributed lengths; a piece and a pause together take one period
    // on average
    kRandom,
  };
  Kind kind = Kind::kSteady;
  std::vector<int> cores;          // CPU numbers
  double share = 0.5;              // above 0 and at most kMostLost
  int64_t period_ns = 10'000'000;  // at least kLeastPeriodNs
  uint64_t seed = 1;               // for kRandom; every core has a sequence of its own

  static constexpr double kMostLost = 0.9;  // guess: a core that has lost more is as good as gone
  // guess: the kernel's scheduler is a hundred times coarser
  static constexpr int64_t kLeastPeriodNs = 10'000;
  static constexpr int64_t kMostPeriodNs = 1'000'000'000'000;
};

// Parses an entry and adds it to `list`: "steady:cores=4-5,share=0.3",
// "periodic:cores=7,share=0.3,period_ms=5", "random:cores=0-3,share=0.5,period_ms=20,seed=2"; "none" adds
// nothing. Throws an Error that names `where` for any other text.
void ParseInterference(const std::string& text, const std::string& where, std::vector<Interference>& list);

// Throws an Error if a share or a period is out of bounds, or if two entries name one core.
void Verify(const std::vector<Interference>& list);

// Returns the share of its time that the core with this CPU number loses on average.
double LostShare(const std::vector<Interference>& list, int cpu);

// The time of a core under the interference of the list. The same sequence of calls has the same results.
class CoreTime {
 public:
  CoreTime(const std::vector<Interference>& list, int cpu);

  // Returns the time at which work is done that takes an undisturbed core `work_ns`, if it starts at
  // `start_ns`, which never decreases. If there is no work, it returns the time at which the core is free for
  // it.
  int64_t Finish(int64_t start_ns, double work_ns);

 private:
  int64_t FinishPeriodic(int64_t start_ns, double work_ns) const;
  int64_t FinishRandom(int64_t start_ns, double work_ns);
  void NextPause();
  int64_t Draw(double mean_ns);

  bool disturbed_ = false;
  Interference by_;
  std::mt19937_64 random_;
  int64_t free_begin_ns_ = 0, free_end_ns_ = 0;  // for kRandom: the time in which the core is ours
};

}  // namespace mete
