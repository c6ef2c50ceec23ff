// A view as JSON and as a line of text.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "top/view.h"
#include "top/words.h"

namespace mete::top {
namespace {

using Json = nlohmann::ordered_json;

Json Number(std::optional<double> value, double factor = 1) { return value ? Json(*value * factor) : Json(); }
Json Count(std::optional<double> value) {
  constexpr double kMost = 9e15;  // up to there doubles have all whole numbers
  return value && *value <= kMost ? Json(int64_t(*value)) : Number(value);
}
Json Ms(std::optional<double> s) { return Number(s, 1e3); }
Json Ms(const std::optional<Quantile>& quantile) { return quantile ? Json(quantile->s * 1e3) : Json(); }

Json ToJson(const ModelRow& row) {
  return {{"name", row.name},
          {"requests_per_s", Number(row.requests_per_s)},
          {"median_ms", Ms(row.median)},
          {"p99_ms", Ms(row.high)},
          {"failed_per_s", Number(row.failed_per_s)},
          {"failed", Count(row.failed)},
          {"waiting", Count(row.waiting)},
          {"queue_ms", Ms(row.queued_s)},
          {"predicted_ms", Ms(row.predicted_s)},
          {"measured_ms", Ms(row.measured_s)},
          {"plans", Count(row.plans)},
          {"retries", Count(row.retries)},
          {"processors_lost", Count(row.losses)}};
}

Json ToJson(const ProcessorRow& row) {
  return {{"name", row.name},
          {"busy", Number(row.busy)},
          {"waiting", Count(row.waiting)},
          {"predicted_ms", Ms(row.predicted_s)},
          {"measured_ms", Ms(row.measured_s)},
          {"memory_bytes", Count(row.memory_bytes)}};
}

// "packed weights": "packed_weights_bytes"
std::string KeyOf(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '_');
  return name + "_bytes";
}

template <class Row>
Json ToJson(const std::vector<Row>& rows) {
  Json json = Json::array();
  for (const Row& row : rows) json.push_back(ToJson(row));
  return json;
}

}  // namespace

Json JsonOf(const View& view) {
  Json memory{{"resident_bytes", Count(view.resident_bytes)}, {"peak_bytes", Count(view.peak_bytes)}};
  for (const MemoryPart& part : view.memory) memory[KeyOf(part.name)] = Count(part.bytes);
  return {{"source", view.source},
          {"about", view.about},
          {"interval_s", view.interval_s},
          {"uptime_s", Number(view.uptime_s)},
          {"silent_s", Number(view.silent_s)},
          {"problem", view.problem.empty() ? Json() : Json(view.problem)},
          {"models", ToJson(view.models)},
          {"processors", ToJson(view.processors)},
          {"waiting", Count(view.waiting)},
          {"under_way", Count(view.under_way)},
          {"predicted_wait_ms", Ms(view.predicted_wait_s)},
          {"deployments", view.callers ? Count(view.callers->now) : Json()},
          {"memory", std::move(memory)},
          {"cpu_cores", Number(view.cpu_cores)},
          {"plan", view.plan.empty() ? Json() : Json(view.plan)},
          {"events", view.events}};
}

std::string LineOf(const View& view) {
  if (view.silent_s)
    return CleanText(
        fmt::format("{}: no answer for {}: {}", view.source, SpanText(*view.silent_s), view.problem));
  std::string line = view.source + ":";
  for (const ModelRow& row : view.models)
    line += fmt::format(" {} {} requests/s, median {}, p99 {}, {} failed/s;", row.name,
                        RateText(row.requests_per_s), QuantileText(row.median), QuantileText(row.high),
                        RateText(row.failed_per_s));
  if (view.waiting) line += fmt::format(" {} waiting;", CountText(view.waiting));
  for (const ProcessorRow& row : view.processors)
    line += fmt::format(" {} {} busy;", row.name, PercentText(row.busy));
  return CleanText(line + " memory " + BytesText(view.resident_bytes));
}

}  // namespace mete::top
