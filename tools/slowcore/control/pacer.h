// Decides when a core is kept from other threads: in the first part of every period, corrected for the errors
// of earlier periods. Time is an argument, so that the same code runs with a simulated core (pacer_test.cc).
#pragma once

#include <cstdint>

namespace mete::slowcore {

// The requested pace: other threads get the share `speed` of the core, and lose the rest once per period.
struct Pace {
  double speed = 1;
  int64_t period_ns = 0;

  double lost_ns() const { return (1 - speed) * double(period_ns); }  // in every period
  // The most that other threads may lose in a period: they keep at least half of their share, however much
  // the pacer is behind. The half is a guess: no thread sees a core that stands still, and the pacer catches
  // up within some periods.
  double most_lost_ns() const { return (1 - speed / 2) * double(period_ns); }
};

// Places the timer and the busy parts on a grid of periods. Without errors this is equivalent to:
//   for (k = 1; ; ++k) {
//     sleep until start + k * period;
//     be busy until start + k * period + lost - overhead;
//   }
// The end is an absolute time: other threads lose the core when the timer is due, not when the busy thread is
// awake. (Measured on a virtual machine: they lose it 1 to 5 us before that moment, and waking up takes 8 to
// 28 us from there, with changes from second to second.) If a busy part was too long, because the thread woke
// up after its end, or too short, the next busy parts are shortened or lengthened.
class Pacer {
 public:
  explicit Pacer(const Pace& pace) : pace_(pace) {}

  // Sets the time that other threads lose in every period in addition to the time from wake_ns() to the end
  // of the busy part: two thread switches and part of an interrupt.
  void SetOverheadNs(double ns) { overhead_ns_ = ns; }

  // Starts again: other threads have the core for a period from now, and no time is owed.
  void Restart(int64_t now_ns);

  // Returns the time at which the next busy part is due; all later ones are on the grid.
  int64_t wake_ns() const { return wake_ns_; }

  // Returns the time at which the busy part must end, for a thread that is awake at `now_ns`, which is not
  // before wake_ns().
  int64_t BusyUntil(int64_t now_ns);

  // Reports that the busy part has ended at `now_ns`. Returns the time that other threads have lost by it.
  double Ended(int64_t now_ns);

  // Returns the time that other threads should have lost so far and have not.
  double owed_ns() const { return owed_ns_; }

 private:
  void SkipTo(int64_t now_ns);

  const Pace pace_;
  double overhead_ns_ = 0;
  double owed_ns_ = 0;
  int64_t wake_ns_ = 0;
};

// Returns the overhead with which other threads would get the requested speed, if they got `seen` with
// `overhead_ns`. Other threads lose both the busy part and the overhead, so that one step is exact except for
// the noise in `seen`.
double NextOverheadNs(double overhead_ns, const Pace& pace, double seen);

}  // namespace mete::slowcore
