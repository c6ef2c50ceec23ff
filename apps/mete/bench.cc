// mete bench: how fast a model is on this machine, and how certain that is.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <memory>

#include "chain.h"
#include "checks.h"
#include "commands.h"
#include "pool.h"
#include "inputs.h"
#include "left_frequencies.h"
#include "mete/device.h"
#include "mete/statistics.h"
#include "model_flags.h"
#include "objective.h"
#include "runner.h"
#include "on_command.h"
#include "stopwatch.h"
#include "terminal.h"
#include "trace_counters.h"

namespace mete::cli {
namespace {

// guess: longer than the first page faults and the rise of the clock frequency
constexpr double kWarmupMs = 500;
constexpr int kLeastRuns = 5;  // with fewer runs a median and its spread mean nothing
// guess: a larger share of a run's time in reference kernels gets a note
constexpr double kMuchReference = 0.1;

// Runs of a chain. This value is a guess: more tokens than decoders take.
constexpr int kMostSteps = 1 << 20;

// Milliseconds. This value is a guess: a session that has settled takes less to say so.
constexpr double kMuchSettling = 0.1;

struct BenchFlags {
  ModelFlags model;
  PoolFlags pool;
  std::vector<std::string> inputs;
  int warmup = -1;
  int runs = 0;
  double seconds = 3;
  int streams = 1;
  uint64_t seed = 1;
  int steps = 1;
  std::vector<std::string> feeds;
  bool on_command = false;
};

// A session with its own threads and inputs. Several streams run at the same time.
struct Stream {
  Stream(const Model& model, Session made, const std::vector<Tensor>& inputs, const Chain& chain,
         const Context& context)
      : session(std::move(made)), runner(model, session, inputs, context, chain) {}

  Session session;
  Runner runner;
  std::vector<double> ms;
  double seconds = 0;  // until the end of the last run
};
using Streams = std::vector<std::unique_ptr<Stream>>;

void WarmUp(Streams& streams, int runs, const Context& context) {
  const Progress progress(context, "warming up");
  const Stopwatch watch;
  for (int i = 0; runs >= 0 ? i < runs : watch.ms() < kWarmupMs; ++i)
    for (const auto& stream : streams) stream->runner.RunMs();
}

// Runs all streams side by side until the time is up or all runs are done. Returns true if an interrupt ended
// the measurement; the runs until then count.
bool Measure(Streams& streams, const BenchFlags& flags, const Context& context) {
  Progress progress(context, "run");
  std::atomic<int> begun{0}, done{0};
  const Stopwatch watch;
  const auto more = [&] {
    const int number = begun.fetch_add(1, std::memory_order_relaxed);
    return flags.runs > 0 ? number < flags.runs : number < kLeastRuns || watch.ms() < flags.seconds * 1e3;
  };
  const auto measure = [&](Stream& stream) {
    while (more()) {
      stream.ms.push_back(stream.runner.RunMs());
      stream.seconds = watch.ms() * 1e-3;
      progress.Update(done.fetch_add(1, std::memory_order_relaxed) + 1, flags.runs);
    }
  };
  std::vector<std::future<void>> others;
  for (size_t i = 1; i < streams.size(); ++i)
    others.push_back(std::async(std::launch::async, [&, i] { measure(*streams[i]); }));
  bool interrupted = false;
  const auto join = [&](const auto& wait) {
    try {
      wait();
    } catch (const Error& e) {
      if (e.code() != Code::kCancelled || done == 0) throw;
      interrupted = true;
    }
  };
  join([&] { measure(*streams[0]); });
  for (auto& other : others) join([&] { other.get(); });
  return interrupted;
}

struct Result {
  Spread time;
  double load_ms = 0, prepare_ms = 0, first_ms = 0, answer_ms = 0, settle_ms = 0;
  int64_t peak_memory_bytes = 0;
  int threads = 1, streams = 1;
  int64_t batch = 1;      // the first dimension of the first input
  double runs_per_s = 0;  // of all streams together
  double gflop = 0, computed_gflop = 0, peak_gflops = 0;
  double reference_share = 0;  // the share of reference kernels in a run's time
  bool interrupted = false;

  double gflops() const { return gflop * runs_per_s; }
  double share() const { return peak_gflops > 0 ? gflops() / peak_gflops : 0; }
  double computed_share() const { return gflop > 0 ? share() * computed_gflop / gflop : 0; }
};

Json ResultJson(const Result& r, const BenchFlags& flags, const DeviceInfo& device,
                const SessionStats& stats) {
  return {{"model", flags.model.model},
          {"cpu", device.cpu},
          {"target", flags.model.reference ? "reference" : device.target},
          {"threads", r.threads},
          {"cores", stats.cores},
          {"emulated_speeds", stats.speeds},
          {"policy", stats.policy},
          {"streams", r.streams},
          {"batch", r.batch},
          {"interrupted", r.interrupted},
          {"runs", r.time.count},
          {"median_ms", r.time.median},
          {"mad_ms", r.time.mad},
          {"p95_ms", r.time.p95},
          {"p99_ms", r.time.p99},
          {"min_ms", r.time.least},
          {"max_ms", r.time.most},
          {"runs_per_s", r.runs_per_s},
          {"items_per_s", r.runs_per_s * double(r.batch)},
          {"load_ms", r.load_ms},
          {"prepare_ms", r.prepare_ms},
          {"first_run_ms", r.first_ms},
          {"first_answer_ms", r.answer_ms},
          {"settle_ms", r.settle_ms},
          {"gflop", r.gflop},
          {"gflops", r.gflops()},
          {"peak_gflops", r.peak_gflops},
          {"share_of_peak", r.share()},
          {"computed_gflop", r.computed_gflop},
          {"computed_share_of_peak", r.computed_share()},
          {"reference_share", r.reference_share},
          {"peak_memory_bytes", r.peak_memory_bytes},
          {"arena_bytes", stats.arena_bytes},
          {"packed_bytes", stats.packed_bytes},
          {"mapped_bytes", stats.mapped_bytes}};
}

std::string ThroughputText(const Result& r) {
  std::string text = fmt::format("{:.4g} a second", r.runs_per_s * double(r.batch));
  if (r.batch > 1) text += fmt::format(", {} in each run", r.batch);
  if (r.streams > 1)
    text += fmt::format(", {} runs at a time on {} thread{} each", r.streams, r.threads,
                        r.threads == 1 ? "" : "s");
  return text;
}

void PrintResult(const Result& r, const BenchFlags& flags, const DeviceInfo& device,
                 const SessionStats& stats) {
  const Style style = StyleOf(1);
  const int threads = r.threads * r.streams;
  PrintText(fmt::format("{}{}{} on {}, {} thread{}, {}", style.bold, flags.model.model, style.reset,
                        device.cpu, threads, threads == 1 ? "" : "s",
                        flags.model.reference ? "reference kernels" : device.target));
  if (!stats.speeds.empty())
    PrintText(fmt::format("  cores {} of emulated speeds {}, policy {}", fmt::join(stats.cores, ","),
                          fmt::join(stats.speeds, ","), stats.policy));
  const std::string median =
      fmt::format("{} +- {} (median absolute deviation of {} runs{})", FormatMs(r.time.median),
                  FormatMs(r.time.mad), r.time.count, r.interrupted ? " until the interrupt" : "");
  Rows rows{{"median", median},
            {"p95, p99", fmt::format("{}, {}", FormatMs(r.time.p95), FormatMs(r.time.p99))},
            {"least, most", fmt::format("{}, {}", FormatMs(r.time.least), FormatMs(r.time.most))},
            {"throughput", ThroughputText(r)},
            {"load", FormatMs(r.load_ms)},
            {"prepare", FormatMs(r.prepare_ms)},
            {"first answer", fmt::format("{} after the start of loading", FormatMs(r.answer_ms))}};
  if (r.settle_ms >= kMuchSettling)
    rows.push_back(
        {"settling", fmt::format("{} to choose kernels, after the first answer", FormatMs(r.settle_ms))});
  if (r.gflop > 0)
    rows.push_back(
        {"speed", fmt::format("{:.2f} GFLOP/s of {:.3f} GFLOP, {:.1f} % of the measured peak of {:.1f}",
                              r.gflops(), r.gflop, 100 * r.share(), r.peak_gflops)});
  if (r.computed_gflop < r.gflop)
    rows.push_back(
        {"computed",
         fmt::format(
             "{:.3f} GFLOP of these, as Winograd's kernels need fewer multiplications: {:.1f} % of the peak",
             r.computed_gflop, 100 * r.computed_share())});
  rows.push_back({"memory", fmt::format("{} at most; activations {}, packed weights {}",
                                        FormatBytes(r.peak_memory_bytes), FormatBytes(stats.arena_bytes),
                                        FormatBytes(stats.packed_bytes))});
  fmt::print("{}", FormatList(rows, "  "));
}

// Returns the share of a run's time that reference kernels took, and prints a note if it is large.
double ReferenceShare(Stream& stream, const BenchFlags& flags, const Context& context) {
  if (flags.model.reference) return 1;
  Trace trace;
  stream.runner.RunMs(&trace);
  double all = 0, reference = 0;
  std::map<std::string, double> by_op;
  for (const StepInfo& s : stream.session.Steps(trace)) {
    all += double(s.ns);
    if (s.kernel.starts_with("reference")) {
      reference += double(s.ns);
      by_op[s.op] += double(s.ns);
    }
  }
  const double share = all > 0 ? reference / all : 0;
  if (share <= kMuchReference) return share;
  std::vector<std::pair<double, std::string>> ops;
  for (const auto& [op, ns] : by_op) ops.emplace_back(ns, op);
  std::sort(ops.rbegin(), ops.rend());
  std::string names;
  for (size_t i = 0; i < std::min<size_t>(ops.size(), 3); ++i)
    names += fmt::format("{}{} {}", i > 0 ? ", " : "", ops[i].second, FormatPercent(ops[i].first / all));
  PrintNote(context,
            fmt::format("reference kernels, which are slow, take {} of a run: {}; --explain says why",
                        FormatPercent(share), names));
  return share;
}

// Returns the flags of one stream: its part of the threads, pinned to its own cores if there are enough.
ModelFlags FlagsOfStream(const ModelFlags& flags, int stream, int streams) {
  if (streams == 1) return flags;
  ModelFlags own = flags;
  const std::vector<int> cores = flags.cores.empty() ? ThisDevice().cores : flags.cores;
  const int all = flags.threads > 0 ? flags.threads : int(cores.size()), threads = std::max(all / streams, 1);
  own.threads = threads;
  own.cores.clear();
  own.speeds.clear();
  if (threads * streams > int(cores.size())) return own;
  const auto begin = std::ptrdiff_t(stream) * threads, end = begin + threads;
  own.cores.assign(cores.begin() + begin, cores.begin() + end);
  if (!flags.speeds.empty()) own.speeds.assign(flags.speeds.begin() + begin, flags.speeds.begin() + end);
  return own;
}

void CheckStreams(const BenchFlags& flags) {
  if (flags.streams == 1) return;
  if (!flags.model.cores.empty() && int(flags.model.cores.size()) < flags.streams)
    throw UsageError(fmt::format(
        "[--streams] needs a core for each stream; got {} streams on cores {}, expected {} at most",
        flags.streams, fmt::join(flags.model.cores, ","), flags.model.cores.size()));
}

void CheckBatch(const BenchFlags& flags, const Model& model) {
  if (flags.model.batch == 0) return;
  std::string shapes;
  for (const Port& p : model.inputs()) {
    if (p.shape.rank() > 0 && p.shape[0] == flags.model.batch) return;
    shapes += (shapes.empty() ? "" : ", ") + DescribePort(p);
  }
  const bool by_flag = !flags.model.shapes.empty();
  throw UsageError(
      fmt::format("[--batch] {} fixes the first dimension of every input; got {}, expected {}; try {}",
                  by_flag ? "--shape" : "the file", flags.model.batch, shapes,
                  by_flag ? "one of the two flags" : "a model that was exported with an open batch"));
}

Json SettingsOf(const BenchFlags& flags, const Session& session) {
  return {{"target", flags.model.reference ? "reference" : ThisDevice().target},
          {"threads", session.stats().threads},
          {"cores", session.stats().cores},
          {"emulated_speeds", session.stats().speeds},
          {"policy", session.stats().policy}};
}

Streams MakeStreams(const Model& model, const ModelFlags& flags, int count, const std::vector<Tensor>& inputs,
                    const Chain& chain, const Context& context) {
  Streams streams;
  for (int i = 0; i < count; ++i)
    streams.push_back(std::make_unique<Stream>(
        model, MakeSession(model, FlagsOfStream(flags, i, count), context), inputs, chain, context));
  return streams;
}

// Joins the measurements of all streams.
void Gather(const Streams& streams, const Model& model, Result& result) {
  std::vector<double> all;
  for (const auto& stream : streams) {
    all.insert(all.end(), stream->ms.begin(), stream->ms.end());
    if (stream->seconds > 0) result.runs_per_s += double(stream->ms.size()) / stream->seconds;
  }
  const SessionStats stats = streams[0]->session.stats();
  result.time = Summarize(std::move(all));
  result.peak_memory_bytes = StatusKib("VmHWM:") * 1024;
  result.prepare_ms = stats.prepare_ms;
  result.threads = stats.threads;
  result.streams = int(streams.size());
  if (!model.inputs().empty() && model.inputs()[0].shape.rank() > 0)
    result.batch = model.inputs()[0].shape[0];
  result.gflop = double(model.stats().flops) * 1e-9;
  result.computed_gflop = double(stats.computed_flops) * 1e-9;
}

// Appends a trace that began `later_ns` after `all`, with lanes and counters of its own.
void Append(Trace trace, int64_t later_ns, const std::string& lane, Trace& all) {
  const int first = int(all.lanes.size());
  for (const std::string& name : trace.lanes) all.lanes.push_back(lane + name);
  for (TraceEvent& event : trace.events) {
    event.worker += first;
    event.start_ns += later_ns;
    event.end_ns += later_ns;
    all.events.push_back(std::move(event));
  }
  for (TraceCounter& counter : trace.counters) {
    counter.name = lane + counter.name;
    for (TraceCounter::Point& point : counter.points) point.ns += later_ns;
    all.counters.push_back(std::move(counter));
  }
  all.total_ns = std::max(all.total_ns, trace.total_ns + later_ns);
}

// Returns the trace of a run of each stream, all at the same time. Several streams share the machine's clocks
// and power, of which only the trace of a single one has counters.
Trace TraceOf(Streams& streams, const Context& context) {
  if (streams.size() == 1) {
    Trace trace;
    TraceCounters(context).Measure(streams[0]->session, trace, [&] { streams[0]->runner.RunMs(&trace); });
    return trace;
  }
  std::vector<Trace> traces(streams.size());
  std::vector<int64_t> start_ns(streams.size());
  const auto run = [&](size_t i) {
    start_ns[i] = MonotonicNs();
    streams[i]->runner.RunMs(&traces[i]);
    traces[i].counters = {streams[i]->session.Activations(traces[i])};
  };
  std::vector<std::future<void>> others;
  for (size_t i = 1; i < streams.size(); ++i)
    others.push_back(std::async(std::launch::async, [&, i] { run(i); }));
  run(0);
  for (auto& other : others) other.get();
  const int64_t first_ns = *std::min_element(start_ns.begin(), start_ns.end());
  Trace all;
  all.process = traces[0].process;
  for (size_t i = 0; i < traces.size(); ++i)
    Append(std::move(traces[i]), start_ns[i] - first_ns, fmt::format("stream {}, ", i + 1), all);
  return all;
}

// Serves a session on a pool, as Bench() does one on a CPU.
void ObeyOnPool(const BenchFlags& flags, const Context& context) {
  ProgramStart start{.ready_ns = MonotonicNs(), .ready_kib = StatusKib("VmRSS:")};
  const std::vector<TensorFile> files = ReadTensorFiles(flags.inputs);
  double load_ms = 0;
  const Model model = LoadQuietly(flags.model, context, &load_ms, ShapesOf(files));
  start.read_ns = MonotonicNs();
  std::vector<Tensor> inputs = PlaceTensors(model, files);
  PrintNotes(model, context);
  FillRandom(model, flags.seed, inputs);
  Session session = MakePoolSession(model, flags.model, flags.pool, context);
  Runner runner(model, session, std::move(inputs), context);
  start.loaded_ns = MonotonicNs();
  runner.RunMs();
  start.answered_ns = MonotonicNs();
  Obey(session, runner, start, {{"processors", flags.pool.processors}}, context);
}

void Bench(const BenchFlags& flags, const Context& context) {
  CheckObjective(flags.model, flags.pool.given());
  CheckCores(flags.model);
  PutBackLeftFrequencies(context);
  if (flags.pool.given() && flags.on_command) return ObeyOnPool(flags, context);
  if (flags.pool.given())
    return BenchPool(flags.model, flags.pool, flags.inputs, flags.seed, flags.runs, flags.seconds, context);
  CheckStreams(flags);
  Result result;
  ProgramStart start{.ready_ns = MonotonicNs(), .ready_kib = StatusKib("VmRSS:")};
  const std::vector<TensorFile> files = ReadTensorFiles(flags.inputs);
  const Stopwatch watch;
  const Model model = LoadQuietly(flags.model, context, &result.load_ms, ShapesOf(files));
  start.read_ns = MonotonicNs();
  CheckBatch(flags, model);
  std::vector<Tensor> inputs = PlaceTensors(model, files);
  PrintNotes(model, context);
  FillRandom(model, flags.seed, inputs);
  ModelFlags chosen = flags.model;
  const auto frequencies = ApplyObjective(model, chosen, context);  // must live as long as the session
  const Chain chain = ChainOf(model, flags.steps, flags.feeds);
  Streams streams = MakeStreams(model, chosen, flags.streams, inputs, chain, context);
  Session& session = streams[0]->session;
  Runner& runner = streams[0]->runner;
  start.loaded_ns = MonotonicNs();
  result.first_ms = runner.RunMs();
  start.answered_ns = MonotonicNs();
  if (flags.on_command) return Obey(session, runner, start, SettingsOf(flags, session), context);
  result.answer_ms = watch.ms();
  const Stopwatch settling;
  for (const auto& stream : streams) Settle(stream->session, context);
  result.settle_ms = settling.ms();
  WarmUp(streams, flags.warmup, context);
  result.reference_share = ReferenceShare(*streams[0], flags, context);
  result.interrupted = Measure(streams, flags, context);
  Gather(streams, model, result);
  if (!chain.feeds.empty()) result.gflop = result.computed_gflop = 0;  // shapes differ from run to run
  {
    const Progress progress(context, "measuring the machine's peak");
    const int cores = int(ThisDevice().cores.size());  // more threads than cores add nothing
    result.peak_gflops = MeasurePeakGflops(std::min(result.threads * result.streams, cores));
  }
  const DeviceInfo device = ThisDevice();
  Json json = ResultJson(result, flags, device, session.stats());
  json["notes"] = model.notes();
  if (!context.json) PrintResult(result, flags, device, session.stats());
  Trace trace;
  if (!result.interrupted) {
    ReportPlan(
        session, flags.model, context, [&](Trace* to) { runner.RunMs(to); }, json);
    if (flags.model.traced()) trace = TraceOf(streams, context);
    ReportTrace(trace, flags.model, context, json);
  }
  if (context.json) PrintJson(json);
  if (result.interrupted)
    throw Error(
        Code::kCancelled,
        fmt::format("[bench] interrupted; what is printed is of the {} runs until then", result.time.count));
}

}  // namespace

void AddBench(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("bench", "measure latency, memory and share of peak");
  auto flags = std::make_shared<BenchFlags>();
  AddModelFlags(*command, flags->model);
  AddObjectiveFlag(*command, flags->model);
  CLI::Option* processors = AddPoolFlags(*command, flags->pool);
  command
      ->add_option("--lanes", flags->pool.lanes,
                   "requests at a time; more than one: plan for throughput, as a pipeline over processors")
      ->type_name("N")
      ->check(Between(1, kMostLanes))
      ->capture_default_str()
      ->needs(processors)
      ->group("Devices");
  command
      ->add_option(
          "--beside", flags->pool.beside,
          "run the plan in turns with each device alone and with these planners' plans; --runs rounds")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(OneOf(PoolPlanners()))
      ->needs(processors)
      ->group("Devices");
  command
      ->add_option("--batch", flags->model.batch,
                   "inputs in a run, where the model leaves the first dimension open")
      ->type_name("N")
      ->check(Between(1, kMostBatch))
      ->group("Measurement");
  auto* streams =
      command
          ->add_option(
              "--streams", flags->streams,
              "runs at a time, for throughput: sessions side by side, each on its part of the threads")
          ->type_name("N")
          ->check(Between(1, 256))
          ->capture_default_str()
          ->group("Measurement");
  for (const char* other : {"--plan", "--save-plan", "--objective", "--processors"})
    streams->excludes(command->get_option(other));
  command->add_option("--warmup", flags->warmup, "runs that are not counted (default: half a second of them)")
      ->type_name("N")
      ->check(Between(0, 10000000))
      ->group("Measurement");
  auto* runs = command->add_option("--runs", flags->runs, "runs that are counted")
                   ->type_name("N")
                   ->check(Between(1, 10000000))
                   ->group("Measurement");
  command->add_option("--seconds", flags->seconds, "time to measure for, and at least 5 runs")
      ->type_name("S")
      ->check(Between(0, 86400))
      ->capture_default_str()
      ->excludes(runs)
      ->group("Measurement");
  command
      ->add_option("--input", flags->inputs,
                   "a tensor from a .npy, .pb or .bin file; other inputs are random")
      ->type_name("NAME=FILE")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Measurement");
  command->add_option("--seed", flags->seed, "of the random inputs")
      ->type_name("N")
      ->capture_default_str()
      ->group("Measurement");
  command
      ->add_flag("--on-command", flags->on_command,
                 "obey lines of JSON on stdin instead (the protocol of bench/peers): {\"do\": \"time\", "
                 "\"runs\": 9}")
      ->excludes(runs)
      ->excludes(streams)
      ->group("Measurement");
  auto* steps =
      command
          ->add_option("--steps", flags->steps,
                       "runs of a chain, each on outputs of the one before (--feed): times are of chains")
          ->type_name("N")
          ->check(Between(1, kMostSteps))
          ->excludes(processors)
          ->group("Measurement");
  command
      ->add_option("--feed", flags->feeds,
                   "an input that gets an output of the run before, as a decoder's cache")
      ->type_name("INPUT=OUTPUT")
      ->take_all()
      ->allow_extra_args(false)
      ->needs(steps)
      ->group("Measurement");
  steps->needs(command->get_option("--feed"));
  processors->excludes(command->get_option("--warmup"));
  for (const char* other : {"--seconds", "--lanes", "--deadline", "--on-command"})
    command->get_option("--beside")->excludes(command->get_option(other));
  AddJsonFlag(*command, context);
  command->footer(
      "Examples:\n"
      "  mete bench resnet50.onnx --threads 1\n"
      "  mete bench resnet50.onnx --cores 0,1 --seconds 10 --profile\n"
      "  mete bench net.onnx --batch 4 --runs 100 --json\n"
      "  mete bench net.onnx --streams 2\n"
      "  mete bench decoder.onnx --steps 64 --feed past_k=present_k --feed past_v=present_v\n"
      "  mete bench resnet50.onnx --processors home.toml --runs 1000");
  command->callback([flags, &context] { context.command = [flags, &context] { Bench(*flags, context); }; });
}

}  // namespace mete::cli
