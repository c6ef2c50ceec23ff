// Interference at random: a core that is slow for a while and free for a while. The same seed gives the same
// phases.
#pragma once

#include <cstdint>
#include <random>

namespace mete::slowcore {

struct PhaseSettings {
  double mean_s = 0;   // of a slow and of a free phase alike where `share` is a half
  double share = 0.5;  // of the time that is slow, in the long run
  uint64_t seed = 1;
};

// Lengths are exponential, so how long a phase has lasted says nothing about when it ends.
class Phases {
 public:
  explicit Phases(const PhaseSettings& settings) : settings_(settings), random_(settings.seed) {}

  // Whether the core is slow at `elapsed_ns` after the start, which must not go back between calls.
  bool SlowAt(int64_t elapsed_ns);
  int64_t end_ns() const { return end_ns_; }  // of the phase of the last call

 private:
  int64_t Length();

  const PhaseSettings settings_;
  std::mt19937_64 random_;
  bool slow_ = false;
  int64_t end_ns_ = 0;
};

}  // namespace mete::slowcore
