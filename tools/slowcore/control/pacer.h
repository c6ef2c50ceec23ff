// When a core is kept from others: the first part of every period, corrected for what went wrong before. Time
// is an argument, so the same code runs under a simulated core (pacer_test.cc).
#pragma once

#include <cstdint>

namespace mete::slowcore {

// What is asked for: others get `speed` of the core, and lose the rest once a period.
struct Pace {
  double speed = 1;
  int64_t period_ns = 0;

  double lost_ns() const { return (1 - speed) * double(period_ns); }  // of every period
  // Others keep at least half of what they are promised in every period, however much we are behind. Guess:
  // nobody sees a core that stands still, and what is owed is made up for within some periods.
  double most_lost_ns() const { return (1 - speed / 2) * double(period_ns); }
};

// Timer and busy parts on a grid of periods; the serial equivalent, where nothing goes wrong:
//   for (k = 1; ; ++k) { sleep until start + k * period; be busy until start + k * period + lost - overhead;
//   }
// The end is absolute: others have lost the core when the timer is due, not when we are awake. (Measured on a
// virtual machine: they lose it 1 to 5 us before that moment, and waking up takes from there 8 to 28 us,
// which differ from second to second.) What a busy part is too long, as we woke up after its end, or too
// short, is taken from or added to the next ones.
class Pacer {
 public:
  explicit Pacer(const Pace& pace) : pace_(pace) {}

  // What others lose in every period beside the time from wake_ns() to the busy part's end: two switches,
  // part of an interrupt.
  void SetOverheadNs(double ns) { overhead_ns_ = ns; }

  // Begins anew: others have the core for a period from now, and nothing is owed.
  void Restart(int64_t now_ns);

  // When the next busy part is due; every later one follows on the grid.
  int64_t wake_ns() const { return wake_ns_; }

  // Awake at `now_ns`, not before wake_ns(): when the busy part shall end.
  int64_t BusyUntil(int64_t now_ns);

  // The busy part has ended at `now_ns`. What others have lost by it.
  double Ended(int64_t now_ns);

  // what periods so far should have taken from others and have not
  double owed_ns() const { return owed_ns_; }

 private:
  void SkipTo(int64_t now_ns);

  const Pace pace_;
  double overhead_ns_ = 0;
  double owed_ns_ = 0;
  int64_t wake_ns_ = 0;
};

// The overhead with which others would get what is asked, where they were seen to get `seen` with
// `overhead_ns`. Both the busy part and the overhead are lost to others, so one step is exact but for the
// noise in `seen`.
double NextOverheadNs(double overhead_ns, const Pace& pace, double seen);

}  // namespace mete::slowcore
