// A simulation as the JSON of Chrome's trace viewer.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "processor/simulated/devices/simulate_devices.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRows[] = {"computes", "sends", "receives"};

int RowOf(const SimulatedSpan& span) { return 3 * span.device + int(span.kind); }

// "conv1 to conv5" of a group, "outputs" behind the last one.
std::string LayersOf(size_t group, const DevicesPlan& plan) {
  if (group == plan.groups.size()) return "outputs";
  const auto& [first, last] = std::pair(plan.groups[group].first, plan.groups[group].last);
  if (first == last) return "values that move";
  if (last - first == 1) return plan.layers[size_t(first)];
  return plan.layers[size_t(first)] + " to " + plan.layers[size_t(last) - 1];
}

std::string NameOf(const SimulatedSpan& span, const DevicesPlan& plan) {
  const std::string what = LayersOf(span.group, plan);
  if (span.kind == SimulatedSpan::kCompute) return what;
  return fmt::format("{} {}, for {}", span.kind == SimulatedSpan::kSend ? "to" : "from", plan.devices[size_t(span.other)], what);
}

}  // namespace

std::string ChromeJson(const DevicesSimulation& simulation, const DevicesPlan& plan) {
  Json list = Json::array();
  std::set<int> rows;
  for (const SimulatedSpan& span : simulation.spans) rows.insert(RowOf(span));
  for (int row : rows) {
    const std::string name = fmt::format("{} {}", plan.devices[size_t(row / 3)], kRows[row % 3]);
    list.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", 0}, {"tid", row}, {"args", {{"name", name}}}});
    list.push_back({{"name", "thread_sort_index"}, {"ph", "M"}, {"pid", 0}, {"tid", row}, {"args", {{"sort_index", row}}}});
  }
  for (const SimulatedSpan& span : simulation.spans)
    list.push_back({{"name", NameOf(span, plan)},
                    {"cat", kRows[span.kind]},
                    {"ph", "X"},
                    {"pid", 0},
                    {"tid", RowOf(span)},
                    {"ts", span.begin_us},
                    {"dur", span.end_us - span.begin_us},
                    {"args", {{"request", span.request}, {"group", span.group + 1}, {"bytes", span.bytes}}}});
  return Json{{"displayTimeUnit", "ms"}, {"traceEvents", list}}.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mete
