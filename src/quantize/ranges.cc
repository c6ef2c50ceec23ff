#include "quantize/ranges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mete {
namespace {

constexpr struct {
  std::string_view name;
  RangeMethod method;
} kMethods[] = {{"auto", RangeMethod::kAuto},
                {"minmax", RangeMethod::kMinMax},
                {"percentile", RangeMethod::kPercentile},
                {"entropy", RangeMethod::kEntropy},
                {"mse", RangeMethod::kMse}};

// The ends that are tried: those of the values, and each a sixteenth of an octave (4 %) nearer to 0, down to
// 1/32. Steps this small are finer than the noise of a calibration with 64 pictures, and activations with
// outliers at more than 32 times their width are not known; both values are guesses.
constexpr int kStepsOfOctave = 16, kSteps = 5 * kStepsOfOctave;

ValueRange MinMax(const Histogram& h) { return {std::min(h.low(), 0.0f), std::max(h.high(), 0.0f)}; }

ValueRange Cut(const ValueRange& full, int low_steps, int high_steps) {
  const auto part = [](int steps) { return std::exp2(-float(steps) / kStepsOfOctave); };
  return {full.low * part(low_steps), full.high * part(high_steps)};
}

// Leaves out the values beyond the percentile, half of them on each side if there are values of both signs.
ValueRange Percentile(const Histogram& h, double percentile) {
  const ValueRange full = MinMax(h);
  const bool both = full.low < 0 && full.high > 0;
  const double out = double(h.count()) * (1 - percentile / 100) / (both ? 2 : 1);
  ValueRange r = full;
  double seen = 0;
  for (int i = 0; i < Histogram::kSide && full.low < 0; ++i) {
    seen += double(h.bins()[size_t(i)]);
    if (seen > out) {
      r.low = std::max(full.low, float((i - Histogram::kSide) * h.width()));
      break;
    }
  }
  seen = 0;
  for (int i = 2 * Histogram::kSide; i-- > Histogram::kSide && full.high > 0;) {
    seen += double(h.bins()[size_t(i)]);
    if (seen > out) {
      r.high = std::min(full.high, float((i + 1 - Histogram::kSide) * h.width()));
      break;
    }
  }
  return r;
}

// The divergence of what the levels say about the values from the values. Values beyond the range count at
// its ends, and the values of a level are taken to be spread evenly over the bins that had any.
double DivergenceOf(const Histogram& h, const ValueRange& range) {
  const double step = (double(range.high) - range.low) / kLevels8;
  if (step < h.width()) return std::numeric_limits<double>::infinity();
  struct Level {
    double mass = 0;
    int bins = 0;
  };
  std::array<Level, size_t(kLevels8) + 1> levels;
  const auto level_of = [&](int bin) {
    return size_t(std::clamp(std::nearbyint((h.CentreOf(bin) - range.low) / step), 0.0, double(kLevels8)));
  };
  const auto inside = [&](int bin) { return h.CentreOf(bin) >= range.low && h.CentreOf(bin) <= range.high; };
  const int bins = 2 * Histogram::kSide;
  for (int i = 0; i < bins; ++i)
    if (h.bins()[size_t(i)] > 0 && inside(i)) {
      levels[level_of(i)].mass += double(h.bins()[size_t(i)]);
      ++levels[level_of(i)].bins;
    }
  const double all = double(h.count() - h.zeros());
  double kept = 0, divergence = 0, below = 0, above = 0;
  for (const Level& level : levels) kept += level.mass;
  if (kept == 0) return std::numeric_limits<double>::infinity();
  int first = -1, last = -1;
  for (int i = 0; i < bins; ++i) {
    const auto n = double(h.bins()[size_t(i)]);
    if (n == 0) continue;
    if (inside(i)) {
      first = first < 0 ? i : first;
      last = i;
    } else {
      (h.CentreOf(i) < range.low ? below : above) += n;
    }
  }
  for (int i = first; i <= last; ++i) {
    double n = double(h.bins()[size_t(i)]);
    if (n == 0) continue;
    const Level& level = levels[level_of(i)];
    const double q = level.mass / level.bins / kept;
    n += (i == first ? below : 0) + (i == last ? above : 0);
    divergence += n / all * std::log(n / all / q);
  }
  return divergence;
}

// Returns the range with the least cost among those whose ends are parts of the full range: one end after
// the other, twice, because the best end on one side depends on the other one.
template <class Cost>
ValueRange Search(const Histogram& h, const Cost& cost) {
  const ValueRange full = MinMax(h);
  int low = 0, high = 0;
  double least = cost(full);
  const auto try_ends = [&](int& end) {
    const int had = end;
    int best = had;
    for (int steps = 0; steps <= kSteps; ++steps) {
      end = steps;
      const double c = cost(Cut(full, low, high));
      if (c < least) {
        least = c;
        best = steps;
      }
    }
    end = best;
  };
  for (int round = 0; round < 2; ++round) {
    if (full.high > 0) try_ends(high);
    if (full.low < 0) try_ends(low);
  }
  return Cut(full, low, high);
}

ValueRange LeastNoise(const Histogram& h) {
  return Search(h, [&](const ValueRange& r) { return NoiseOf(h, r); });
}

// Clipping moves a large value by much, and large values decide about classes: another range than that of all
// values must have clearly less noise. Half of the noise is 3 dB, half a bit.
ValueRange Auto(const Histogram& h, const RangeOptions& options) {
  constexpr double kClearly = 0.5;
  const ValueRange full = MinMax(h);
  ValueRange best = full;
  double least = NoiseOf(h, full) * kClearly;
  for (const ValueRange& other : {Percentile(h, options.percentile), LeastNoise(h)})
    if (const double noise = NoiseOf(h, other); !other.empty() && noise < least) {
      least = noise;
      best = other;
    }
  return best;
}

}  // namespace

double NoiseOf(const Histogram& h, const ValueRange& range) {
  if (range.empty() || h.count() == 0) return PowerOf(h);
  const double step = (double(range.high) - range.low) / kLevels8;
  const double rounding = step * step / 12;  // of values that are spread evenly over a level
  double noise = 0;
  for (int i = 0; i < 2 * Histogram::kSide; ++i) {
    const auto n = double(h.bins()[size_t(i)]);
    if (n == 0) continue;
    const double x = h.CentreOf(i);
    const double out = x < range.low ? range.low - x : x > range.high ? x - range.high : 0;
    noise += n * (out > 0 ? out * out : rounding);
  }
  return noise / double(h.count());
}

double PowerOf(const Histogram& h) {
  double power = 0;
  for (int i = 0; i < 2 * Histogram::kSide; ++i)
    power += double(h.bins()[size_t(i)]) * h.CentreOf(i) * h.CentreOf(i);
  return h.count() ? power / double(h.count()) : 0;
}

ValueRange RangeOf(const Histogram& h, const RangeOptions& options) {
  if (h.count() == h.zeros()) return {};
  ValueRange r;
  switch (options.method) {
    case RangeMethod::kMinMax: r = MinMax(h); break;
    case RangeMethod::kPercentile: r = Percentile(h, options.percentile); break;
    case RangeMethod::kEntropy:
      r = Search(h, [&](const ValueRange& range) { return DivergenceOf(h, range); });
      break;
    case RangeMethod::kMse: r = LeastNoise(h); break;
    case RangeMethod::kAuto: r = Auto(h, options); break;
  }
  return r.empty() ? MinMax(h) : r;
}

std::vector<std::string_view> RangeMethodNames() {
  std::vector<std::string_view> names;
  for (const auto& row : kMethods) names.push_back(row.name);
  return names;
}

std::string_view NameOf(RangeMethod method) {
  for (const auto& row : kMethods)
    if (row.method == method) return row.name;
  return "";
}

RangeMethod RangeMethodOf(std::string_view name) {
  for (const auto& row : kMethods)
    if (row.name == name) return row.method;
  return RangeMethod::kAuto;
}

}  // namespace mete
