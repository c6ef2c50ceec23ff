// Reads the text format of Prometheus, in which a server tells its figures. The text comes from the network:
// any bytes give samples or an error, in time and memory that its length bounds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mete::top {

// Guess: a server of a thousand models has a quarter of it.
inline constexpr int64_t kMostMetricBytes = int64_t(16) << 20;

// Guess: a server of a thousand versions of models has half of them.
inline constexpr int kMostMetricSamples = 200'000;

struct MetricSample {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;  // as in the text
  double value = 0;                                         // may be infinite or no number

  // The value of a label; empty: it has no such label.
  const std::string& Label(std::string_view label) const;
};

// Returns the samples in the order of the text; comments, types and times of samples are left out. Error
// DATA_LOSS, which names `where` and the line, for a line that is no sample, and for too many samples.
std::vector<MetricSample> ReadMetrics(std::string_view text, const std::string& where);

}  // namespace mete::top
