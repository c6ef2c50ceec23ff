// What `mete top` shows: rates, quantiles and shares of the time between two polls of a source, and what is
// now. One form for servers, workers and sessions, as a value, as JSON and as a line of text (top/page.h
// draws it). No function here reads a clock.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "top/figures.h"

namespace mete::top {

// The high quantile of latencies that is shown beside the median.
inline constexpr double kHighQuantile = 0.99;

struct ModelRow {
  std::string name;  // with the version: "digits 1"
  std::optional<double> requests_per_s = {}, failed_per_s = {};
  std::optional<Quantile> median = {}, high = {};   // of latencies
  std::optional<double> failed = {}, waiting = {};  // since the start, now
  std::optional<double> queued_s = {};              // the mean
  std::optional<double> predicted_s = {}, measured_s = {};
  std::optional<double> plans = {}, retries = {}, losses = {};  // since the start

  // How much longer a request takes than predicted: 0.1 is a tenth. Nothing: one of the two is not known.
  std::optional<double> drift() const;
};

struct ProcessorRow {
  std::string name;
  std::optional<double> busy = {};  // the part of the time, 0 to 1
  std::optional<double> waiting = {};
  std::optional<double> predicted_s = {}, measured_s = {};  // of its part of a request
  std::optional<double> memory_bytes = {};
};

struct View {
  std::string source, about;
  double interval_s = 0;  // 0: there was one poll only, and no figure is a rate
  std::optional<double> uptime_s = {};
  std::vector<ModelRow> models = {};
  std::vector<ProcessorRow> processors = {};
  std::optional<double> waiting = {}, under_way = {}, predicted_wait_s = {};
  std::optional<OfMost> callers = {};
  std::optional<double> resident_bytes = {}, peak_bytes = {};
  std::vector<MemoryPart> memory = {};
  std::optional<double> cpu_cores = {};  // as many as it kept busy
  std::string plan = {};
  std::vector<std::string> events = {};
  // Since when the source gives no answer, in seconds before now, and why. The rest is of its last answer.
  std::optional<double> silent_s = {};
  std::string problem = {};
};

// Returns what happened between two polls of one source. A counter that is less than before belongs to a
// source that was started anew, and gives no rate. Names keep their bytes; both texts below are without
// control characters.
View Compare(const Figures& before, const Figures& now);
View FirstView(const Figures& now);  // without rates

nlohmann::ordered_json JsonOf(const View& view);
std::string LineOf(const View& view);

}  // namespace mete::top
