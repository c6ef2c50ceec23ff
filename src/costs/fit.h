// What a thing takes, from times of nodes that are made of many things: non-negative least squares of
// relative errors.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace mete {

// A time that was measured, and what it is made of.
struct FitSample {
  std::map<std::string, double> amounts;
  double ns = 0;  // > 0
};

struct Fit {
  std::map<std::string, double> ns;  // of one of each thing; those that cost nothing are missing
  int samples = 0;
  double within = 0;  // share of the samples whose prediction is off by 10 % at most
  double spread = 0;  // median of |prediction / time - 1|

  // Amounts that no sample had count as nothing, and Known() says whether there are any.
  double Predict(const std::map<std::string, double>& amounts) const;
  bool Known(const std::map<std::string, double>& amounts) const;
  std::vector<std::string> things = {};  // that samples had, in order
};

// Samples that lie far off count for less: least absolute rather than least squared deviations, in the limit.
Fit FitUnits(std::span<const FitSample> samples);

}  // namespace mete
