// A simulation as a timeline: a process for each processor, with a lane for what it computes and one for each
// direction of its link; and two more where it exchanges in its worker's memory.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/timeline.h"
#include "simulate/pool/simulate_pool.h"

namespace mete {
namespace {

constexpr const char* kRows[] = {"computes", "sends", "receives", "sends in memory", "receives in memory"};
constexpr int kRowsOfAll = 3;  // the others are of processors with messages in memory

int RowOf(const SimulatedSpan& span) {
  return int(span.kind) + (span.link == LinkKind::kMemory ? int(SimulatedSpan::kReceive) : 0);
}

// Returns for example "conv1 to conv5" for a group, and "outputs" behind the last one.
std::string LayersOf(size_t group, const Plan& plan) {
  if (group == plan.groups.size()) return "outputs";
  const auto& [first, last] = std::pair(plan.groups[group].first, plan.groups[group].last);
  if (first == last) return "values that move";
  if (last - first == 1) return plan.layers[size_t(first)];
  return plan.layers[size_t(first)] + " to " + plan.layers[size_t(last) - 1];
}

std::string NameOf(const SimulatedSpan& span, const Plan& plan) {
  const std::string what = LayersOf(span.group, plan);
  if (span.kind == SimulatedSpan::kCompute) return what;
  return fmt::format("{} {}, for {}", span.kind == SimulatedSpan::kSend ? "to" : "from",
                     plan.processors[size_t(span.other)], what);
}

// Adds the power of a processor without work, and while it computes.
void AddPower(const PoolSimulation& simulation, int processor, const PowerCosts& power, int process,
              Timeline& timeline) {
  const auto add = [&](double us, double watts) { timeline.AddCounter(process, "power", "W", us, watts); };
  add(0, power.idle_w);
  for (const SimulatedSpan& span : simulation.spans) {
    if (span.processor != processor || span.kind != SimulatedSpan::kCompute) continue;
    add(span.begin_us, power.idle_w + power.compute_w);
    add(span.end_us, power.idle_w);
  }
}

}  // namespace

std::string ChromeJson(const PoolSimulation& simulation, const Plan& plan, const PoolCosts& pool) {
  Timeline timeline;
  std::map<std::pair<int, int>, Timeline::Lane> lanes;  // by processor and row
  for (int processor = 0; processor < int(plan.processors.size()); ++processor) {
    const int process = timeline.AddProcess(plan.processors[size_t(processor)]);
    const bool in_memory = std::any_of(
        simulation.spans.begin(), simulation.spans.end(),
        [&](const SimulatedSpan& s) { return s.processor == processor && s.link == LinkKind::kMemory; });
    for (int row = 0; row < (in_memory ? int(std::size(kRows)) : kRowsOfAll); ++row)
      lanes[{processor, row}] = timeline.AddLane(process, kRows[row]);
    if (const auto& power = pool.processors[size_t(processor)].power)
      AddPower(simulation, processor, *power, process, timeline);
  }
  const auto lane_of = [&](const SimulatedSpan& span) { return lanes.at({span.processor, RowOf(span)}); };
  // The sender is known where a message is received, and the receiver where its group is computed.
  std::map<std::tuple<int, int, int, size_t>, const SimulatedSpan*> sent;  // from, to, request, group
  // processor, request, group
  std::map<std::tuple<int, int, size_t>, std::vector<const SimulatedSpan*>> received;
  for (const SimulatedSpan& span : simulation.spans) {
    timeline.AddSlice(lane_of(span), NameOf(span, plan), kRows[RowOf(span)], span.begin_us, span.end_us,
                      {{"request", span.request}, {"group", int64_t(span.group) + 1}, {"bytes", span.bytes}});
    if (span.kind == SimulatedSpan::kSend)
      sent[{span.processor, span.other, span.request, span.group}] = &span;
    if (span.kind == SimulatedSpan::kReceive)
      received[{span.processor, span.request, span.group}].push_back(&span);
  }
  // before the slice's end
  const auto inside = [](double end_us, double begin_us) { return std::max(begin_us, end_us - 1e-3); };
  for (const SimulatedSpan& span : simulation.spans) {
    if (span.kind == SimulatedSpan::kReceive) {
      const auto from = sent.find({span.other, span.processor, span.request, span.group});
      if (from != sent.end())
        timeline.AddArrow("message", lane_of(*from->second), from->second->begin_us, lane_of(span),
                          inside(span.end_us, span.begin_us));
    }
    if (span.kind != SimulatedSpan::kCompute) continue;
    for (const SimulatedSpan* piece : received[{span.processor, span.request, span.group}])
      timeline.AddArrow("waited for", lane_of(*piece), inside(piece->end_us, piece->begin_us), lane_of(span),
                        std::max(span.begin_us, piece->end_us));
  }
  return timeline.ToJson();
}

}  // namespace mete
