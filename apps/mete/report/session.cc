// The report of a model on this machine's CPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "inputs.h"
#include "left_frequencies.h"
#include "mete/device.h"
#include "mete/statistics.h"
#include "report/parts.h"
#include "report/timeline.h"
#include "runner.h"
#include "terminal.h"
#include "trace_counters.h"

namespace mete::cli {
namespace {

struct TracedRun {
  double ms = 0;
  Trace trace;
};

// Returns the runs by their length.
std::vector<TracedRun> RunsOf(const Session& session, Runner& runner, int runs, const Context& context) {
  TraceCounters counters(context);
  Progress progress(context, "run");
  for (int i = 0; i < 3; ++i) runner.RunMs();  // not counted: memory is touched for the first time
  std::vector<TracedRun> all;
  for (int i = 0; i < runs; ++i) {
    TracedRun& run = all.emplace_back();
    counters.Measure(session, run.trace, [&] { run.ms = runner.RunMs(&run.trace); });
    progress.Update(i + 1, runs);
  }
  std::sort(all.begin(), all.end(), [](const TracedRun& a, const TracedRun& b) { return a.ms < b.ms; });
  return all;
}

// Returns the share of all threads' time in which they wait for others.
double WaitingShare(const Trace& trace) {
  double waiting = 0;
  int threads = 1;
  for (const TraceEvent& event : trace.events) {
    if (event.waits()) waiting += double(event.end_ns - event.start_ns);
    threads = std::max(threads, event.worker + 1);
  }
  return trace.total_ns > 0 ? waiting / double(threads) / double(trace.total_ns) : 0;
}

// Returns the trace with the emulated speeds in the names of its lanes.
Trace WithSpeeds(Trace trace, const SessionStats& stats) {
  for (size_t i = 0; i < std::min(trace.lanes.size(), stats.speeds.size()); ++i)
    trace.lanes[i] += fmt::format(", speed {}", stats.speeds[i]);
  return trace;
}

Json ArenaJson(const Session& session) {
  Json json{{"bytes", session.stats().arena_bytes}, {"steps", Json::array()}, {"values", Json::array()}};
  for (const StepInfo& step : session.Steps()) json["steps"].push_back(step.node);
  for (const ArenaValue& v : session.Arena())
    json["values"].push_back({v.name, v.offset, v.bytes, v.first_step, v.last_step});
  return json;
}

std::string AboutOf(const SessionStats& stats) {
  const DeviceInfo device = ThisDevice();
  std::string text = fmt::format("{} thread{} on {}, {}", stats.threads, stats.threads == 1 ? "" : "s",
                                 device.cpu, device.target);
  if (!stats.speeds.empty())
    text += fmt::format("; cores {} of speeds {}, which are emulated", fmt::join(stats.cores, ", "),
                        fmt::join(stats.speeds, ", "));
  return text;
}

// Returns what the threads reach. Cores whose speeds are emulated reach a share of it: the mean of their
// speeds.
DeviceLimits LimitsOf(const SessionStats& stats, const Context& context) {
  const Progress progress(context, "measuring the machine's limits");
  DeviceLimits limits = MeasureLimits(stats.threads);
  if (stats.speeds.empty()) return limits;
  const double mean =
      std::accumulate(stats.speeds.begin(), stats.speeds.end(), 0.0) / double(stats.speeds.size());
  limits.gflops *= mean;
  limits.read_gbytes *= mean;
  return limits;
}

void SayRuns(const std::vector<double>& ms, const SessionStats& stats, Report& report) {
  const Spread spread = Summarize(ms);
  report.says.push_back(
      fmt::format("A run takes {} on {} thread{}: the median of {} runs, which took {} to {}.",
                  FormatMs(spread.median), stats.threads, stats.threads == 1 ? "" : "s", spread.count,
                  FormatMs(spread.least), FormatMs(spread.most)));
}

void SayMachine(const Model& model, const SessionStats& stats, double median_ms, const Trace& trace,
                const DeviceLimits& limits, Report& report) {
  const double gflops = double(model.stats().flops) * 1e-6 / median_ms;
  if (gflops > 0)
    report.says.push_back(fmt::format(
        "That is {:.1f} GFLOP/s, {} of the {:.1f} that {} thread{} reach in registers, in f32.", gflops,
        FormatPercent(gflops / limits.gflops), limits.gflops, stats.threads, stats.threads == 1 ? "" : "s"));
  if (stats.threads > 1)
    report.says.push_back(fmt::format("Threads wait for each other in {} of the shown run's time.",
                                      FormatPercent(WaitingShare(trace))));
  if (!stats.speeds.empty())
    report.says.push_back(
        "The speeds of the cores are emulated: a block of a slowed core is stretched to the time that it "
        "would take.");
  report.says.push_back(fmt::format("Activations share {}; each in its own memory would take {}.",
                                    FormatBytes(stats.arena_bytes), FormatBytes(stats.values_bytes)));
}

void AddFacts(const Model& model, const SessionStats& stats, const std::vector<double>& ms, Report& report) {
  report.facts = {{"median run", FormatMs(Summarize(ms).median)},
                  {"operations", fmt::format("{:.3f} GFLOP", double(model.stats().flops) * 1e-9)},
                  {"nodes", std::to_string(model.stats().nodes)},
                  {"parameters", fmt::format("{:.2f} million", double(model.stats().parameters) * 1e-6)},
                  {"activations", FormatBytes(stats.arena_bytes)},
                  {"packed weights", FormatBytes(stats.packed_bytes)}};
}

}  // namespace

Report ReportOfSession(const ReportFlags& flags, const Context& context) {
  CheckCores(flags.model);
  PutBackLeftFrequencies(context);
  const std::vector<TensorFile> files = ReadTensorFiles(flags.inputs);
  const Model model = LoadModel(flags.model, context, nullptr, ShapesOf(files));
  std::vector<Tensor> inputs = PlaceTensors(model, files);
  FillRandom(model, flags.seed, inputs);
  Session session = MakeSession(model, flags.model, context);
  Settle(session, context);
  Runner runner(model, session, std::move(inputs), context);
  const std::vector<TracedRun> runs = RunsOf(session, runner, flags.runs, context);
  const TracedRun& shown = runs[runs.size() / 2];
  std::vector<double> ms;
  for (const TracedRun& run : runs) ms.push_back(run.ms);
  const SessionStats stats = session.stats();
  const DeviceLimits limits = LimitsOf(stats, context);

  Report report;
  report.title = std::filesystem::path(flags.model.model).filename().string();
  report.about = AboutOf(stats);
  SayRuns(ms, stats, report);
  AddFacts(model, stats, ms, report);
  const std::string how = stats.speeds.empty() ? "measured" : "measured, with emulated speeds of cores";
  report.timelines.push_back(TimelineOf(
      {"A run over time", fmt::format("The run of median length of {}, {}.", runs.size(), how), "measured"},
      Json::parse(WithSpeeds(shown.trace, stats).ChromeJson()), flags.model.model));
  Json steps = Json::array();
  for (const StepInfo& step : session.Steps(shown.trace)) steps.push_back(StepJson(step));
  AddNodes(steps, Json::parse(session.PlanJson()), report);
  report.limits = {
      {"gflops", limits.gflops}, {"read_gbytes", limits.read_gbytes}, {"threads", stats.threads}};
  report.arena = ArenaJson(session);
  SayMachine(model, stats, Summarize(ms).median, shown.trace, limits, report);
  SayNodes(report);
  CompareNodes(report);
  return report;
}

}  // namespace mete::cli
