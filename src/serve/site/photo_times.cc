#include "serve/site/photo_times.h"

#include <algorithm>
#include <cmath>

#include "mete/statistics.h"

namespace mete::serve {
namespace {

constexpr size_t kSteps = 32;  // as a LinkEstimate keeps
constexpr size_t kTimes = 5;   // guess: two outliers among them change little
// Guess: steps whose amounts are in ratios that are nearer to each other than this show one time alone. It is
// the square of the sine of the angle between both amounts over all steps.
constexpr double kLeastAngle = 1e-3;

template <class T>
void Keep(std::vector<T>& seen, const T& one, size_t most) {
  seen.push_back(one);
  if (seen.size() > most) seen.erase(seen.begin());
}

}  // namespace

void SeenSteps::Learn(const SeenStep& step) { Keep(seen_, step, kSteps); }

std::optional<double> SeenSteps::MsOf(double first, double second) const {
  // of amounts by their times: aa x + ab y = a, ab x + bb y = b
  double aa = 0, ab = 0, bb = 0, a = 0, b = 0;
  for (const SeenStep& step : seen_) {
    if (step.ms <= 0) continue;
    const double p = step.first / step.ms, q = step.second / step.ms;
    aa += p * p;
    ab += p * q;
    bb += q * q;
    a += p;
    b += q;
  }
  if (aa <= 0) return std::nullopt;
  const double determinant = aa * bb - ab * ab;
  if (determinant > kLeastAngle * aa * bb) {
    const double x = (a * bb - b * ab) / determinant, y = (b * aa - a * ab) / determinant;
    if (x >= 0 && y >= 0) return x * first + y * second;
  }
  return a / aa * first;
}

void RecentTimes::Learn(double ms) { Keep(seen_, ms, kTimes); }

std::optional<double> RecentTimes::ms() const {
  return seen_.empty() ? std::nullopt : std::optional(Summarize(seen_).median);
}

}  // namespace mete::serve
