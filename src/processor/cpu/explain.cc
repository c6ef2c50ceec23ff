// How each step is computed, how fast, and why: as values and as a table.
#include <fmt/format.h>

#include <algorithm>

#include "base/table.h"
#include "graph/fused.h"
#include "processor/cpu/executor.h"

namespace mete {
namespace {

// What is known of a node's speed, as columns; empty where nothing is.
struct Speed {
  std::string us, gflops, of_peak, gbytes, of_memory;
};

// "160 % (71 %)": of the operations that the node stands for, and of those that Winograd's kernel computes.
std::string SharesOfPeak(const StepInfo& e, double ns, double peak) {
  const std::string share = fmt::format("{:.0f} %", 100 * double(e.flops) / ns / peak);
  if (e.computed_flops == e.flops) return share;
  return fmt::format("{} ({:.0f} %)", share, 100 * double(e.computed_flops) / ns / peak);
}

Speed SpeedOf(const StepInfo& e, const DeviceLimits& limits) {
  const double ns = double(e.ns);
  if (ns <= 0) return {};
  Speed s{fmt::format("{:.1f}", ns * 1e-3), "", "", "", ""};
  if (e.flops > 0) s.gflops = fmt::format("{:.1f}", double(e.flops) / ns);
  if (e.flops > 0 && limits.gflops > 0) s.of_peak = SharesOfPeak(e, ns, limits.gflops);
  const double gbytes = double(e.bytes) / ns;
  if (e.bytes > 0) s.gbytes = fmt::format("{:.1f}", gbytes);
  if (e.bytes > 0 && limits.read_gbytes > 0)
    s.of_memory = fmt::format("{:.0f} %", 100 * gbytes / limits.read_gbytes);
  return s;
}

constexpr size_t kLongestName = 48;
// columns; in fewer the operator stands with the reason, so that names of nodes and kernels can be read
constexpr int kNarrow = 110;

// Who computes a step.
std::string Where(const StepInfo& s) { return fmt::format("{} x{} {}", s.processor, s.threads, s.policy); }

// The target that all fast kernels have, as they are named "conv_f32 avx512"; empty where they differ.
std::string SharedTarget(const std::vector<StepInfo>& steps) {
  std::string shared;
  for (const StepInfo& s : steps) {
    const size_t space = s.kernel.rfind(' ');
    // "view", "reference (shape known at run time)"
    if (space == std::string::npos || s.kernel.ends_with(')')) continue;
    const std::string target = s.kernel.substr(space + 1);
    if (shared.empty()) shared = target;
    if (shared != target) return "";
  }
  return shared;
}

// With the operator, which has no column of its own in a narrow table; a fast kernel's name tells it.
std::string Reason(const StepInfo& s) {
  if (s.why.empty()) return s.kernel.starts_with("reference") ? s.op : "";
  return s.op + ": " + s.why;
}

bool IsAbovePeak(const StepInfo& s, const DeviceLimits& limits) {
  return s.ns > 0 && limits.read_gbytes > 0 && double(s.bytes) / double(s.ns) > limits.read_gbytes;
}

std::string WithoutTarget(const std::string& kernel, const std::string& target) {
  return !target.empty() && kernel.ends_with(" " + target)
             ? kernel.substr(0, kernel.size() - target.size() - 1)
             : kernel;
}

}  // namespace

std::vector<StepInfo> Executor::Steps(const Trace& trace) const {
  std::vector<StepInfo> infos;
  size_t event = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const BoundStep& s = steps_[i];
    const Step& planned = plan_.steps[i];
    const std::string kernel = s.prepared           ? s.prepared->kernel()
                               : memory_.is_view[i] ? "view"
                               : s.control_flow     ? "its bodies"
                                                    : "reference (shape known at run time)";
    infos.push_back({s.node->name, s.node->op, kSessionProcessor, planned.policy, kernel,
                     s.prepared ? s.prepared->reason() : "", planned.threads, 0, s.flops, s.bytes,
                     s.computed_flops(), TakesOperands(graph_, *s.node) ? Name(OperandsOf(*s.node)) : "",
                     planned.predicted_us});
    while (event < trace.events.size() && (trace.events[event].waits() || trace.events[event].worker != 0))
      ++event;
    if (event == trace.events.size() || trace.events[event].name != s.node->name) continue;
    infos.back().ns = trace.events[event].end_ns - trace.events[event].start_ns;
    ++event;
  }
  return infos;
}

std::string ExplainTable(const std::vector<StepInfo>& steps, const DeviceLimits& limits, int columns) {
  const bool timed = std::any_of(steps.begin(), steps.end(), [](const StepInfo& s) { return s.ns > 0; });
  const bool alike =
      std::all_of(steps.begin(), steps.end(), [&](const StepInfo& s) { return Where(s) == Where(steps[0]); });
  const bool winograd =
      std::any_of(steps.begin(), steps.end(), [](const StepInfo& s) { return s.computed_flops != s.flops; });
  const bool narrow = columns > 0 && columns < kNarrow;
  const std::string target = narrow ? SharedTarget(steps) : "";
  TableLayout layout{.align = "", .columns = columns};
  Rows rows{{}};
  const auto add_column = [&](const char* name, char align) {
    rows[0].push_back(name);
    layout.align += align;
  };
  add_column("node", 'l');
  if (!narrow) add_column("operator", 'l');
  if (!alike) add_column("where", 'l');
  add_column("kernel", 'l');
  if (timed)
    for (const char* name : {"us", "GFLOP/s", "of peak", "GB/s", "of memory"}) add_column(name, 'r');
  add_column(narrow ? "operator: why" : "why", 'w');
  for (const StepInfo& s : steps) {
    std::vector<std::string> row{Shortened(s.node, kLongestName)};
    if (!narrow) row.push_back(s.op);
    if (!alike) row.push_back(Where(s));
    row.push_back(WithoutTarget(s.kernel, target));
    if (timed) {
      const Speed speed = SpeedOf(s, limits);
      row.insert(row.end(), {speed.us, speed.gflops, speed.of_peak, speed.gbytes, speed.of_memory});
    }
    row.push_back(narrow ? Reason(s) : s.why);
    rows.push_back(std::move(row));
  }
  std::string text;
  const auto add_lines = [&](const std::string& paragraph) {
    for (const std::string& line : WrapText(paragraph, columns)) text += line + "\n";
  };
  if (alike && !steps.empty())
    add_lines(
        fmt::format("every node: {}{}", Where(steps[0]), target.empty() ? "" : ", kernels for " + target));
  else if (!target.empty()) add_lines(fmt::format("kernels for {}", target));
  text += FormatTable(rows, layout);
  if (timed &&
      std::any_of(steps.begin(), steps.end(), [&](const StepInfo& s) { return IsAbovePeak(s, limits); }))
    add_lines(
        "of memory: of the rate at which memory is read; more than 100 % where caches held some of the "
        "bytes");
  if (timed && winograd)
    add_lines(
        "of peak: by the operations of the node; in parentheses those that Winograd's algorithm leaves of "
        "them");
  return text;
}

}  // namespace mete
