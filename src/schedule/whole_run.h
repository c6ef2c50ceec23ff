// Whether a whole run is done sooner by all workers or by the calling one alone, by how long it took in
// either way. What single regions take does not say (worth.h): that inputs lie in other caches, that workers
// wake up and that all wait for one costs a little everywhere.
#pragma once

#include <string>

#include "schedule/policy.h"
#include "schedule/two_ways.h"

namespace mete {

class WholeRun {
 public:
  // Begins a run; whether it is to be the calling worker's alone.
  bool BeginAlone();
  // What that run took, and what the policy says of its regions.
  void Learn(double ns, const Policy::Times& regions);
  // For people: "on the calling thread alone, 3.42 ms; with all threads 3.61 ms"; empty where all take part
  // and alone was never tried.
  std::string text() const;

 private:
  // Guesses, as in two_ways.cc: other programs disturb whole runs more than regions, so that more of them are
  // compared. New times count more than those of regions, as each takes longer: of 0.05 and 0.1 the second
  // took 0.7 % less, four models beside a slowed core.
  static constexpr TwoWays::Rule kRule{.much_sooner = 0.98,
                                       .trial_runs = 8,
                                       .settling_runs = 1,
                                       .least_patience = 16,
                                       .usual_gain = 0.1,
                                       .doubts = true};
  TwoWays ways_{kRule};
  double together_over_alone_ = 0;  // of the regions, usually
};

}  // namespace mete
