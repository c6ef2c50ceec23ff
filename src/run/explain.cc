// Who does what, how fast, and why: as values and as a table.
#include <fmt/format.h>

#include <algorithm>

#include "run/executor.h"

namespace mete {
namespace {

// What is known of a node's speed, as columns; empty where nothing is.
struct Speed {
  std::string us, gflops, of_peak, gbytes, of_memory;
};

Speed SpeedOf(const StepInfo& e, const DeviceLimits& limits) {
  const double ns = double(e.ns);
  if (ns <= 0) return {};
  Speed s{fmt::format("{:.1f}", ns * 1e-3), "", "", "", ""};
  const double gflops = double(e.flops) / ns, gbytes = double(e.bytes) / ns;
  if (e.flops > 0) s.gflops = fmt::format("{:.1f}", gflops);
  if (e.flops > 0 && limits.gflops > 0) s.of_peak = fmt::format("{:.0f} %", 100 * gflops / limits.gflops);
  if (e.bytes > 0) s.gbytes = fmt::format("{:.1f}", gbytes);
  if (e.bytes > 0 && limits.read_gbytes > 0) s.of_memory = fmt::format("{:.0f} %", 100 * gbytes / limits.read_gbytes);
  return s;
}

constexpr size_t kLongestName = 48;

std::string Cut(const std::string& name) { return name.size() <= kLongestName ? name : name.substr(0, kLongestName - 2) + ".."; }

std::string Line(const std::vector<std::string>& cells, const std::vector<size_t>& widths, size_t numbers_begin, size_t numbers_end) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const bool number = i >= numbers_begin && i < numbers_end;
    line += number ? fmt::format("  {:>{}}", cells[i], widths[i]) : fmt::format("  {:<{}}", cells[i], widths[i]);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::vector<StepInfo> Executor::Steps(const Trace& trace) const {
  std::vector<StepInfo> infos;
  size_t event = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const BoundStep& s = steps_[i];
    const Step& planned = plan_.steps[i];
    const std::string kernel = s.prepared ? s.prepared->kernel() : memory_.is_view[i] ? "view" : "reference (shape known at run time)";
    infos.push_back({s.node->name, s.node->op, planned.shares[0].processor, planned.policy, kernel, s.prepared ? s.prepared->reason() : "",
                     planned.threads, 0, s.flops, s.bytes});
    while (event < trace.events.size() && trace.events[event].name == "[wait]") ++event;
    if (event == trace.events.size() || trace.events[event].name != s.node->name) continue;
    infos.back().ns = trace.events[event].end_ns - trace.events[event].start_ns;
    ++event;
  }
  return infos;
}

std::string ExplainTable(const std::vector<StepInfo>& steps, const DeviceLimits& limits) {
  const bool timed = std::any_of(steps.begin(), steps.end(), [](const StepInfo& s) { return s.ns > 0; });
  std::vector<std::vector<std::string>> rows{{"node", "operator", "where", "kernel"}};
  const size_t numbers_begin = rows[0].size();
  if (timed) rows[0].insert(rows[0].end(), {"us", "GFLOP/s", "of peak", "GB/s", "of memory"});
  const size_t numbers_end = rows[0].size();
  rows[0].push_back("why");
  for (const StepInfo& s : steps) {
    rows.push_back({Cut(s.node), s.op, fmt::format("{} x{} {}", s.processor, s.threads, s.policy), s.kernel});
    if (timed) {
      const Speed speed = SpeedOf(s, limits);
      rows.back().insert(rows.back().end(), {speed.us, speed.gflops, speed.of_peak, speed.gbytes, speed.of_memory});
    }
    rows.back().push_back(s.why);
  }
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (size_t c = 0; c + 1 < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string out;
  for (const auto& row : rows) out += Line(row, widths, numbers_begin, numbers_end);
  return out;
}

}  // namespace mete
