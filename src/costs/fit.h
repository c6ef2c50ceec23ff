// Fits the time of each kind of unit (a register tile, a byte read) from times of nodes that consist of many
// units: non-negative least squares of relative errors.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace mete {

// A measured time, and the amounts of the units that it consists of.
struct FitSample {
  std::map<std::string, double> amounts;
  double ns = 0;  // > 0
};

struct Fit {
  std::map<std::string, double> ns;  // time of one unit of each kind; units that cost nothing are missing
  int samples = 0;
  double within = 0;  // share of the samples with a prediction error of at most 10 %
  double spread = 0;  // median of |prediction / time - 1|

  // Predict() counts units that no sample had as 0; Known() returns whether the samples had all units.
  double Predict(const std::map<std::string, double>& amounts) const;
  bool Known(const std::map<std::string, double>& amounts) const;
  std::vector<std::string> things = {};  // the kinds of units in the samples, sorted
};

// Fits the units' times. Samples with large errors get smaller weights in each round, so that the result
// approaches least absolute instead of least squared deviations.
Fit FitUnits(std::span<const FitSample> samples);

}  // namespace mete
