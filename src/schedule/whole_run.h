// Decides whether all workers or the calling worker alone do a whole run sooner, by the time that it took in
// either way. The times of single regions do not show this (worth.h): inputs in other caches, waking of
// workers and waiting for one of them cost a little in every region.
#pragma once

#include <string>

#include "schedule/policy.h"
#include "schedule/two_ways.h"

namespace mete {

class WholeRun {
 public:
  // Begins a run. Returns true if the calling worker should do it alone.
  bool BeginAlone();
  // Records the time of that run, and the policy's times of its regions.
  void Learn(double ns, const Policy::Times& regions);
  // Returns the decision for users: "on the calling thread alone, 3.42 ms; with all threads 3.61 ms". The
  // text is empty if a run by the calling worker alone was never tried.
  std::string text() const;

 private:
  // These values are guesses, as in two_ways.cc. Other programs disturb whole runs more than regions, so a
  // trial has more runs. A new time has more weight than that of a region, because each run takes longer:
  // with a usual_gain of 0.1, four models beside a slowed core took 0.7 % less time than with 0.05.
  static constexpr TwoWays::Rule kRule{.much_sooner = 0.98,
                                       .trial_runs = 8,
                                       .settling_runs = 1,
                                       .least_patience = 16,
                                       .usual_gain = 0.1,
                                       .doubts = true};
  TwoWays ways_{kRule};
  double together_over_alone_ = 0;  // average ratio of the regions' two times (Policy::Times)
};

}  // namespace mete
