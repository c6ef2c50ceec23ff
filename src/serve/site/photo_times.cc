#include "serve/site/photo_times.h"

#include <array>
#include <bit>
#include <numeric>
#include <span>

#include "mete/statistics.h"

namespace mete::serve {
namespace {

constexpr size_t kSteps = 32;  // as a LinkEstimate keeps
constexpr size_t kTimes = 5;   // guess: two outliers among them change little
// Guess: an amount that is nearer than this to a combination of others shows no time of its own. It is the
// square of the sine of the angle between both over all steps.
constexpr double kLeastAngle = 1e-3;
constexpr double kSame = 1e-9;  // of residuals, which are sums of squares of relative errors

constexpr size_t kTerms = 3;
using Terms = std::array<double, kTerms>;  // of the first amount, the second one, and a constant

template <class T>
void Keep(std::vector<T>& seen, const T& one, size_t most) {
  seen.push_back(one);
  if (seen.size() > most) seen.erase(seen.begin());
}

Terms AmountsOf(double first, double second) { return {first, second, 1}; }

double Times(const Terms& a, const Terms& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Sums over steps, of amounts by their times: what least squares of relative errors need.
struct Sums {
  std::array<Terms, kTerms> squares = {};
  Terms ones = {};
  double steps = 0;

  double Residual(const Terms& terms) const {
    Terms product = {};
    for (size_t i = 0; i < kTerms; ++i) product[i] = Times(squares[i], terms);
    return Times(terms, product) - 2 * Times(terms, ones) + steps;
  }
};

Sums SumsOf(std::span<const SeenStep> seen) {
  Sums sums;
  for (const SeenStep& step : seen) {
    if (step.ms <= 0) continue;
    Terms relative = AmountsOf(step.first, step.second);
    for (double& amount : relative) amount /= step.ms;
    for (size_t i = 0; i < kTerms; ++i) {
      sums.ones[i] += relative[i];
      for (size_t j = 0; j < kTerms; ++j) sums.squares[i][j] += relative[i] * relative[j];
    }
    ++sums.steps;
  }
  return sums;
}

// Returns the terms of least squares where those outside of `subset`, a bit for each, are 0; nothing where
// the steps do not show them, or one would be below 0.
std::optional<Terms> Solve(const Sums& sums, unsigned subset) {
  auto rows = sums.squares;
  Terms terms = sums.ones;
  const auto is_in = [&](size_t i) { return (subset >> i & 1) != 0; };
  for (size_t i = 0; i < kTerms; ++i) {
    if (!is_in(i)) continue;
    if (rows[i][i] <= kLeastAngle * sums.squares[i][i]) return std::nullopt;
    for (size_t other = 0; other < kTerms; ++other) {
      if (other == i || !is_in(other)) continue;
      const double by = rows[other][i] / rows[i][i];
      for (size_t j = 0; j < kTerms; ++j) rows[other][j] -= by * rows[i][j];
      terms[other] -= by * terms[i];
    }
  }
  for (size_t i = 0; i < kTerms; ++i) {
    terms[i] = is_in(i) ? terms[i] / rows[i][i] : 0;
    if (terms[i] < 0) return std::nullopt;
  }
  return terms;
}

}  // namespace

void SeenSteps::Learn(const SeenStep& step) { Keep(seen_, step, kSteps); }

// The best terms that are not below 0 are the best of a subset of the terms; there are seven subsets.
std::optional<double> SeenSteps::MsOf(double first, double second) const {
  const Sums sums = SumsOf(seen_);
  std::optional<Terms> best;
  for (const unsigned subset : {0b001u, 0b010u, 0b100u, 0b011u, 0b101u, 0b110u, 0b111u}) {
    const bool is_shown = std::popcount(subset) == 1 || sums.steps > std::popcount(subset);
    const std::optional<Terms> terms = is_shown ? Solve(sums, subset) : std::nullopt;
    if (terms && (!best || sums.Residual(*terms) < sums.Residual(*best) - kSame)) best = terms;
  }
  return best ? std::optional(Times(*best, AmountsOf(first, second))) : std::nullopt;
}

void RecentTimes::Learn(double ms) { Keep(seen_, ms, kTimes); }

std::optional<double> RecentTimes::ms() const {
  return seen_.empty() ? std::nullopt : std::optional(Summarize(seen_).median);
}

}  // namespace mete::serve
