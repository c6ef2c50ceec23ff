#include "machine/capacity.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "machine/core_type.h"

namespace mete {
namespace {

// Capacities in this ratio or closer count as equal. Equal cores of one processor may have different highest
// frequencies, because each is tested: Intel's favoured cores differ by 100 to 200 MHz of 5000. This value is
// a guess.
constexpr double kSame = 0.95;

using Known = std::optional<std::vector<double>>;

bool TellsApart(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end();
}

// Replaces values that are nearly equal by the highest of them.
std::vector<double> Joined(std::vector<double> values) {
  std::map<double, double, std::greater<>> joined;
  for (double v : values) joined[v] = v;
  double highest = 0;
  for (auto& [value, of] : joined) {
    if (value < kSame * highest || highest == 0) highest = value;
    of = highest;
  }
  for (double& v : values) v = joined[v];
  return values;
}

Known ByKernel(const std::vector<CoreFacts>& cores) {
  std::vector<double> capacities;
  for (const CoreFacts& c : cores) {
    if (c.cpu_capacity <= 0) return std::nullopt;
    capacities.push_back(double(c.cpu_capacity) / 1024);
  }
  return Joined(capacities);
}

Known ByHybridType(const std::vector<CoreFacts>& cores) {
  std::map<std::string, int64_t> highest;  // by type
  for (const CoreFacts& c : cores) highest[c.type] = std::max(highest[c.type], c.frequency.max_khz);
  if (!highest.contains(kPerformanceCore)) return std::nullopt;
  std::vector<double> capacities;
  for (const CoreFacts& c : cores) {
    const double capacity = HybridCapacity(c.type, highest[c.type], highest[kPerformanceCore]);
    if (capacity <= 0) return std::nullopt;
    capacities.push_back(capacity);
  }
  return capacities;
}

Known ByFrequency(const std::vector<CoreFacts>& cores) {
  std::vector<double> frequencies;
  for (const CoreFacts& c : cores) {
    if (c.frequency.max_khz <= 0) return std::nullopt;
    frequencies.push_back(double(c.frequency.max_khz));
  }
  if (frequencies.empty()) return std::nullopt;
  const double highest = *std::max_element(frequencies.begin(), frequencies.end());
  frequencies = Joined(frequencies);
  for (double& f : frequencies) f /= highest;
  return frequencies;
}

}  // namespace

double HybridCapacity(const std::string& type, int64_t max_khz, int64_t performance_khz) {
  // An E-core's work per cycle relative to a P-core's: the driver intel_pstate of Linux converts the
  // processor's performance scale to frequency with 78741 kHz per step for P-cores
  // (HYBRID_SCALING_FACTOR_ADL) and 100000 for E-cores. The ratio holds for Intel's mix of integer programs;
  // for f32 products it is nearer to a half.
  constexpr double kEfficientWork = 0.78741;
  const double frequency =
      max_khz > 0 && performance_khz > 0 ? std::min(1.0, double(max_khz) / double(performance_khz)) : 1;
  if (type == kPerformanceCore) return 1;
  return type == kEfficientCore || type == kLowPowerCore ? frequency * kEfficientWork : 0;
}

Capacities CapacitiesOf(const std::vector<CoreFacts>& cores) {
  const Known kernel = ByKernel(cores), hybrid = ByHybridType(cores), frequency = ByFrequency(cores);
  if (kernel && TellsApart(*kernel)) return {*kernel, CapacitySource::kCpuCapacity};
  if (hybrid && TellsApart(*hybrid)) return {*hybrid, CapacitySource::kHybridType};
  if (frequency && TellsApart(*frequency)) return {*frequency, CapacitySource::kMaxFrequency};
  if (kernel) return {*kernel, CapacitySource::kCpuCapacity};
  return {std::vector<double>(cores.size(), 1), CapacitySource::kEqual};
}

}  // namespace mete
