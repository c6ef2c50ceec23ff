// Random interference: a core that is alternately slow and free. The same seed gives the same phases.
#pragma once

#include <cstdint>
#include <random>

namespace mete::slowcore {

struct PhaseSettings {
  double mean_s = 0;   // mean length of all phases; slow and free phases differ if `share` is not a half
  double share = 0.5;  // share of the time that is slow, in the long run
  uint64_t seed = 1;
};

// The lengths are exponentially distributed, so that the time that a phase has lasted does not predict its
// end.
class Phases {
 public:
  explicit Phases(const PhaseSettings& settings) : settings_(settings), random_(settings.seed) {}

  // Returns whether the core is slow at `elapsed_ns` after the start. `elapsed_ns` must not decrease between
  // calls.
  bool SlowAt(int64_t elapsed_ns);
  int64_t end_ns() const { return end_ns_; }  // end of the phase of the last call

 private:
  int64_t Length();

  const PhaseSettings settings_;
  std::mt19937_64 random_;
  bool slow_ = false;
  int64_t end_ns_ = 0;
};

}  // namespace mete::slowcore
