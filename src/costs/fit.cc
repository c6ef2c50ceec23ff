#include "costs/fit.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace mete {
namespace {

// The equations of the fit: a row per sample, a column per kind of unit. Each row is divided by its time, so
// that the right side is 1, and each column by its largest entry.
struct System {
  std::vector<std::vector<double>> rows;
  std::vector<double> scale;  // the largest entry of each column
};

System SystemOf(std::span<const FitSample> samples, const std::vector<std::string>& things) {
  System s{{}, std::vector<double>(things.size(), 0)};
  for (const FitSample& sample : samples) {
    std::vector<double>& row = s.rows.emplace_back(things.size(), 0.0);
    for (size_t j = 0; j < things.size(); ++j) {
      const auto amount = sample.amounts.find(things[j]);
      if (amount != sample.amounts.end()) row[j] = amount->second / sample.ns;
      s.scale[j] = std::max(s.scale[j], row[j]);
    }
  }
  for (std::vector<double>& row : s.rows)
    for (size_t j = 0; j < row.size(); ++j)
      if (s.scale[j] > 0) row[j] /= s.scale[j];
  return s;
}

// Minimizes the sum of weight * (row * x - 1)^2 over x >= 0 by coordinate descent on the normal equations.
// The problem is convex, so the descent ends at the minimum.
std::vector<double> Solve(const System& s, const std::vector<double>& weights) {
  // This value is a guess: columns that are nearly proportional converge slowly. It takes some milliseconds
  // for 20 columns.
  constexpr int kSweeps = 4000;
  constexpr double kStill = 1e-10;  // relative to the largest entry, which is 1
  const size_t n = s.scale.size();
  std::vector<std::vector<double>> gram(n, std::vector<double>(n, 0));
  std::vector<double> right(n, 0), x(n, 0);
  for (size_t i = 0; i < s.rows.size(); ++i)
    for (size_t j = 0; j < n; ++j) {
      right[j] += weights[i] * s.rows[i][j];
      for (size_t k = 0; k < n; ++k) gram[j][k] += weights[i] * s.rows[i][j] * s.rows[i][k];
    }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double moved = 0;
    for (size_t j = 0; j < n; ++j) {
      if (gram[j][j] <= 0) continue;
      double rest = right[j];
      for (size_t k = 0; k < n; ++k) rest -= k == j ? 0 : gram[j][k] * x[k];
      const double to = std::max(0.0, rest / gram[j][j]);
      moved = std::max(moved, std::abs(to - x[j]));
      x[j] = to;
    }
    if (moved < kStill) break;
  }
  return x;
}

double Residual(const std::vector<double>& row, const std::vector<double>& x) {
  double sum = -1;
  for (size_t j = 0; j < x.size(); ++j) sum += row[j] * x[j];
  return sum;
}

}  // namespace

double Fit::Predict(const std::map<std::string, double>& amounts) const {
  double sum = 0;
  for (const auto& [what, amount] : amounts) {
    const auto each = ns.find(what);
    if (each != ns.end()) sum += amount * each->second;
  }
  return sum;
}

bool Fit::Known(const std::map<std::string, double>& amounts) const {
  return std::all_of(amounts.begin(), amounts.end(), [&](const auto& a) {
    return std::binary_search(things.begin(), things.end(), a.first);
  });
}

Fit FitUnits(std::span<const FitSample> samples) {
  constexpr int kRounds = 8;       // rounds of new weights; a guess: the weights have converged by then
  constexpr double kClose = 0.02;  // noise of a time, a guess; samples with smaller errors have equal weights
  std::set<std::string> names;
  for (const FitSample& s : samples)
    for (const auto& [what, amount] : s.amounts) names.insert(what);
  Fit fit;
  fit.things.assign(names.begin(), names.end());
  fit.samples = int(samples.size());
  if (samples.empty()) return fit;
  const System system = SystemOf(samples, fit.things);
  std::vector<double> weights(samples.size(), 1), x, errors(samples.size());
  for (int round = 0; round < kRounds; ++round) {
    x = Solve(system, weights);
    for (size_t i = 0; i < samples.size(); ++i) {
      errors[i] = std::abs(Residual(system.rows[i], x));
      weights[i] = 1 / std::max(errors[i], kClose);
    }
  }
  for (size_t j = 0; j < x.size(); ++j)
    if (x[j] > 0) fit.ns[fit.things[j]] = x[j] / system.scale[j];
  fit.within = double(std::count_if(errors.begin(), errors.end(), [](double e) { return e <= 0.1; })) /
               double(errors.size());
  std::nth_element(errors.begin(), errors.begin() + int64_t(errors.size() / 2), errors.end());
  fit.spread = errors[errors.size() / 2];
  return fit;
}

}  // namespace mete
