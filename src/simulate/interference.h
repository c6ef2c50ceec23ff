// What else runs on the cores of a simulated machine and takes time from the model.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace mete {

// Cores lose `share` of their time to others.
struct Interference {
  enum class Kind {
    // evenly, as to a second model whose threads the kernel lets alternate with ours in slices too short to
    // see
    kSteady,
    kPeriodic,  // of every period its beginning, as to a real-time load
    // in pieces and pauses of exponentially distributed lengths, a piece and a pause a period in the mean
    kRandom,
  };
  Kind kind = Kind::kSteady;
  std::vector<int> cores;          // CPU numbers
  double share = 0.5;              // above 0 and at most kMostLost
  int64_t period_ns = 10'000'000;  // at least kLeastPeriodNs
  uint64_t seed = 1;               // of kRandom; every core has a sequence of its own

  static constexpr double kMostLost = 0.9;  // guess: a core that has lost more is as good as gone
  // guess: the kernel's scheduler is a hundred times coarser
  static constexpr int64_t kLeastPeriodNs = 10'000;
  static constexpr int64_t kMostPeriodNs = 1'000'000'000'000;
};

// "steady:cores=4-5,share=0.3", "periodic:cores=7,share=0.3,period_ms=5",
// "random:cores=0-3,share=0.5,period_ms=20,seed=2"; "none" is nothing. Adds to `list`. Error, which names
// `where`, for any other text.
void ParseInterference(const std::string& text, const std::string& where, std::vector<Interference>& list);

// Error where a share or a period is out of bounds, or two entries name one core.
void Verify(const std::vector<Interference>& list);

// What a core of that CPU number loses in the mean.
double LostShare(const std::vector<Interference>& list, int cpu);

// A core's time under what the list says of it: the same sequence of calls, the same answers.
class CoreTime {
 public:
  CoreTime(const std::vector<Interference>& list, int cpu);

  // When what takes an undisturbed core `work_ns` is done, if it starts at `start_ns`, which never goes back;
  // of no work, when the core is there.
  int64_t Finish(int64_t start_ns, double work_ns);

 private:
  int64_t FinishPeriodic(int64_t start_ns, double work_ns) const;
  int64_t FinishRandom(int64_t start_ns, double work_ns);
  void NextPause();
  int64_t Draw(double mean_ns);

  bool disturbed_ = false;
  Interference by_;
  std::mt19937_64 random_;
  int64_t free_begin_ns_ = 0, free_end_ns_ = 0;  // of kRandom: when the core is ours
};

}  // namespace mete
