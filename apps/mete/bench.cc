// mete bench: how fast a model is here, and how sure that is.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "hosts.h"
#include "inputs.h"
#include "left_frequencies.h"
#include "mete/device.h"
#include "mete/statistics.h"
#include "model_flags.h"
#include "objective.h"
#include "plan/devices/named.h"
#include "runner.h"
#include "serve.h"
#include "stopwatch.h"
#include "terminal.h"

namespace mete::cli {
namespace {

constexpr double kWarmupMs = 500;  // guess: past the first page faults and the rise of the clock
constexpr int kLeastRuns = 5;      // below that a median with spread says nothing

struct BenchFlags {
  ModelFlags model;
  HostsFlags hosts;
  std::vector<std::string> inputs;
  int warmup = -1;
  int runs = 0;
  double seconds = 3;
  uint64_t seed = 1;
  bool serve = false;
};

void WarmUp(Runner& runner, int runs) {
  const Progress progress("warming up");
  const Stopwatch watch;
  for (int i = 0; runs >= 0 ? i < runs : watch.ms() < kWarmupMs; ++i) runner.RunMs();
}

std::vector<double> Measure(Runner& runner, const BenchFlags& flags) {
  Progress progress("run");
  const Stopwatch watch;
  std::vector<double> samples;
  samples.reserve(size_t(std::max(flags.runs, 1 << 16)));
  auto more = [&] {
    const int done = int(samples.size());
    return flags.runs > 0 ? done < flags.runs : done < kLeastRuns || watch.ms() < flags.seconds * 1e3;
  };
  while (more()) {
    samples.push_back(runner.RunMs());
    progress.Update(int(samples.size()), flags.runs);
  }
  return samples;
}

struct Result {
  Spread time;
  double load_ms = 0, prepare_ms = 0, first_ms = 0, answer_ms = 0;
  int64_t peak_memory_bytes = 0;
  int threads = 1;
  double gflop = 0, peak_gflops = 0;

  double gflops() const { return time.median > 0 ? gflop / (time.median * 1e-3) : 0; }
  double share() const { return peak_gflops > 0 ? gflops() / peak_gflops : 0; }
};

Json ResultJson(const Result& r, const BenchFlags& flags, const DeviceInfo& device, const SessionStats& stats) {
  return {{"model", flags.model.model},
          {"cpu", device.cpu},
          {"target", flags.model.reference ? "reference" : device.target},
          {"threads", r.threads},
          {"cores", stats.cores},
          {"emulated_speeds", stats.speeds},
          {"policy", stats.policy},
          {"runs", r.time.count},
          {"median_ms", r.time.median},
          {"mad_ms", r.time.mad},
          {"p95_ms", r.time.p95},
          {"p99_ms", r.time.p99},
          {"min_ms", r.time.least},
          {"max_ms", r.time.most},
          {"load_ms", r.load_ms},
          {"prepare_ms", r.prepare_ms},
          {"first_run_ms", r.first_ms},
          {"first_answer_ms", r.answer_ms},
          {"gflop", r.gflop},
          {"gflops", r.gflops()},
          {"peak_gflops", r.peak_gflops},
          {"share_of_peak", r.share()},
          {"peak_memory_bytes", r.peak_memory_bytes},
          {"arena_bytes", stats.arena_bytes},
          {"packed_bytes", stats.packed_bytes},
          {"mapped_bytes", stats.mapped_bytes}};
}

void PrintResult(const Result& r, const BenchFlags& flags, const DeviceInfo& device, const SessionStats& stats) {
  const Style style = StyleOf(1);
  fmt::print("{}{}{} on {}, {} thread{}, {}\n", style.bold, flags.model.model, style.reset, device.cpu, r.threads,
             r.threads == 1 ? "" : "s", flags.model.reference ? "reference kernels" : device.target);
  if (!stats.speeds.empty())
    fmt::print("  cores {} of emulated speeds {}, policy {}\n", fmt::join(stats.cores, ","), fmt::join(stats.speeds, ","), stats.policy);
  const std::string median = fmt::format("{} +- {} (median absolute deviation of {} runs)", FormatMs(r.time.median), FormatMs(r.time.mad),
                                         r.time.count);
  Rows rows{{"median", median},
            {"p95, p99", fmt::format("{}, {}", FormatMs(r.time.p95), FormatMs(r.time.p99))},
            {"least, most", fmt::format("{}, {}", FormatMs(r.time.least), FormatMs(r.time.most))},
            {"load", FormatMs(r.load_ms)},
            {"prepare", FormatMs(r.prepare_ms)},
            {"first answer", fmt::format("{} after the start of loading", FormatMs(r.answer_ms))}};
  if (r.gflop > 0)
    rows.push_back({"speed", fmt::format("{:.2f} GFLOP/s of {:.3f} GFLOP, {:.1f} % of the measured peak of {:.1f}", r.gflops(), r.gflop,
                                         100 * r.share(), r.peak_gflops)});
  rows.push_back({"memory", fmt::format("{} at most; activations {}, packed weights {}", FormatBytes(r.peak_memory_bytes),
                                        FormatBytes(stats.arena_bytes), FormatBytes(stats.packed_bytes))});
  fmt::print("{}", FormatTable(rows, "ll", "  "));
}

Json ServeSettings(const BenchFlags& flags, const Session& session) {
  return {{"target", flags.model.reference ? "reference" : ThisDevice().target},
          {"threads", session.stats().threads},
          {"cores", session.stats().cores},
          {"emulated_speeds", session.stats().speeds},
          {"policy", session.stats().policy}};
}

void Bench(const BenchFlags& flags, const Context& context) {
  CheckObjective(flags.model, flags.hosts.given());
  PutBackLeftFrequencies();
  if (flags.hosts.given()) return BenchHosts(flags.model, flags.hosts, flags.inputs, flags.seed, flags.runs, flags.seconds, context);
  Result result;
  ServeStart start{.ready_ns = MonotonicNs(), .ready_kib = StatusKib("VmRSS:")};
  const Stopwatch watch;
  const Model model = LoadModel(flags.model, &result.load_ms);
  std::vector<Tensor> inputs = ReadInputs(model, flags.inputs);
  FillRandom(model, flags.seed, inputs);
  ModelFlags chosen = flags.model;
  const auto frequencies = ApplyObjective(model, chosen, context);  // as long as the session
  Session session = MakeSession(model, chosen, context);
  Runner runner(model, session, std::move(inputs), context);
  start.loaded_ns = MonotonicNs();
  result.first_ms = runner.RunMs();
  start.answered_ns = MonotonicNs();
  if (flags.serve) return Serve(runner, start, ServeSettings(flags, session), context);
  result.answer_ms = watch.ms();
  WarmUp(runner, flags.warmup);
  result.time = Summarize(Measure(runner, flags));
  result.peak_memory_bytes = StatusKib("VmHWM:") * 1024;
  result.prepare_ms = session.stats().prepare_ms;
  result.threads = session.stats().threads;
  result.gflop = double(model.stats().flops) * 1e-9;
  result.peak_gflops = MeasurePeakGflops(result.threads);
  const DeviceInfo device = ThisDevice();
  Json json = ResultJson(result, flags, device, session.stats());
  json["notes"] = model.notes();
  if (!context.json) PrintResult(result, flags, device, session.stats());
  ReportPlan(session, flags.model, context, [&](Trace* trace) { runner.RunMs(trace); }, json);
  Trace trace;
  if (flags.model.traced()) runner.RunMs(&trace);
  ReportTrace(trace, flags.model, context, json);
  if (context.json) PrintJson(json);
}

}  // namespace

void AddBench(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("bench", "measure latency, memory and share of peak");
  auto flags = std::make_shared<BenchFlags>();
  AddModelFlags(*command, flags->model);
  AddObjectiveFlag(*command, flags->model);
  CLI::Option* devices = AddHostsFlags(*command, flags->hosts);
  command->add_option("--lanes", flags->hosts.lanes, "requests at a time; more than one: plan for throughput, as a pipeline over devices")
      ->type_name("N")->check(CLI::Range(1, kMostLanes))->capture_default_str()->needs(devices)->group("Devices");
  command->add_option("--beside", flags->hosts.beside,
                      "run the plan in turns with each device alone and with these planners' plans; --runs rounds")
      ->type_name("NAME,...")->delimiter(',')->check(CLI::IsMember(DevicePlanners()))->needs(devices)->group("Devices");
  command->add_option("--warmup", flags->warmup, "runs that are not counted (default: half a second of them)")
      ->type_name("N")->check(CLI::NonNegativeNumber)->group("Measurement");
  auto* runs = command->add_option("--runs", flags->runs, "runs that are counted")->type_name("N")->check(CLI::Range(1, 10000000))
                   ->group("Measurement");
  command->add_option("--seconds", flags->seconds, "measure for so long, but at least 5 runs")
      ->type_name("S")->check(CLI::Range(0.0, 86400.0))->capture_default_str()->excludes(runs)->group("Measurement");
  command->add_option("--input", flags->inputs, "a tensor from a .npy, .pb or .bin file; other inputs are random")->type_name("NAME=FILE")
      ->take_all()->expected(1)->group("Measurement");
  command->add_option("--seed", flags->seed, "of the random inputs")->type_name("N")->capture_default_str()->group("Measurement");
  command->add_flag("--serve", flags->serve,
                    "obey lines of JSON on stdin instead (the protocol of bench/peers): {\"do\": \"time\", \"runs\": 9}")
      ->excludes(runs)->group("Measurement");
  for (const char* other : {"--serve", "--warmup"}) devices->excludes(command->get_option(other));
  for (const char* other : {"--seconds", "--lanes", "--deadline"}) command->get_option("--beside")->excludes(command->get_option(other));
  AddJsonFlag(*command, context);
  command->footer(
      "Examples:\n"
      "  mete bench resnet50.onnx --threads 1\n"
      "  mete bench resnet50.onnx --cores 0,1 --seconds 10 --profile\n"
      "  mete bench net.onnx --shape data=4x3x224x224 --runs 100 --json\n"
      "  mete bench resnet50.onnx --devices home.toml --runs 1000");
  command->callback([flags, &context] { context.command = [flags, &context] { Bench(*flags, context); }; });
}

}  // namespace mete::cli
