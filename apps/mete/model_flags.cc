#include "model_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "checks.h"
#include "mete/custom_operator.h"
#include "mete/device.h"
#include "stopwatch.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

constexpr const char* kModelGroup = "Model";
constexpr const char* kMachineGroup = "Machine";
constexpr const char* kReportGroup = "Report";
constexpr int kExplainRuns = 5;       // guess: the least time of five runs is near the best time of a node
constexpr int kProfileRows = 12;      // as many rows as fit on a screen below the table by operator
constexpr double kLeastSpeed = 0.01;  // the least value of SessionOptions::speeds

LoadOptions LoadOptionsOf(const ModelFlags& flags) {
  LoadOptions options;
  for (const std::string& text : flags.shapes) {
    // without a name, the shape is that of the only input
    const bool named = text.find('=') != std::string::npos;
    const auto [name, dims] = named ? SplitAssignment(text, "--shape") : std::pair(std::string(), text);
    if (!options.input_shapes.emplace(name, ParseShape(dims, "--shape")).second)
      throw UsageError(fmt::format("[--shape] {} is given twice; got '{}' again, expected it once",
                                   named ? "'" + name + "'" : "the shape", text));
  }
  options.batch = flags.batch;
  if (!flags.weights.empty() && !flags.model.ends_with(".prototxt"))
    throw UsageError(fmt::format(
        "[--weights] goes with a Caffe network; got the model '{}', expected a .prototxt", flags.model));
  options.weights = flags.weights;
  options.optimize = !flags.no_optimize;
  options.disabled_passes = flags.disabled_passes;
  options.onnxruntime_sums = flags.onnxruntime_sums;
  options.precision = flags.precision;
  options.error_bound = flags.error_bound;
  options.samples = flags.samples;
  return options;
}

// Returns the folder for --cache-weights, or "" if the flag is not set.
std::string PackedCache(const ModelFlags& flags) {
  if (!flags.cache_weights) return "";
  std::string folder = CacheFolder();
  if (folder.empty())
    throw UsageError("[--cache-weights] no folder to keep them in; set METE_CACHE, XDG_CACHE_HOME or HOME");
  return folder;
}

Json EventJson(const TraceEvent& e) {
  return {{"name", e.name},
          {"op", e.op},
          {"us", double(e.end_ns - e.start_ns) * 1e-3},
          {"flops", e.flops},
          {"worker", e.worker}};
}

constexpr std::pair<const char*, Tune> kTune[] = {
    {"before", Tune::kBefore}, {"after", Tune::kAfter}, {"never", Tune::kNever}};

std::vector<std::string> TuneWords() {
  std::vector<std::string> words;
  for (const auto& [word, when] : kTune) words.emplace_back(word);
  return words;
}

Tune TuneOf(const ModelFlags& flags) {
  const auto is = [&](const auto& known) { return flags.tune == known.first; };
  return std::find_if(std::begin(kTune), std::end(kTune), is)->second;
}

}  // namespace

void CheckCores(const ModelFlags& flags) {
  if (!flags.plan.empty() && (flags.threads > 0 || !flags.cores.empty() || !flags.policy.empty()))
    throw UsageError(
        "[--plan] says which threads and cores run, and how they share; leave out --threads, --cores and "
        "--policy");
  const DeviceInfo device = ThisDevice();
  for (size_t i = 0; i < flags.cores.size(); ++i)
    if (std::find(flags.cores.begin(), flags.cores.begin() + std::ptrdiff_t(i), flags.cores[i]) !=
        flags.cores.begin() + std::ptrdiff_t(i))
      throw UsageError(
          fmt::format("[--cores] core {} is named twice; got {}, expected each core once; try --threads for "
                      "more threads than "
                      "cores",
                      flags.cores[i], fmt::join(flags.cores, ",")));
  for (int core : flags.cores)
    if (std::find(device.cores.begin(), device.cores.end(), core) == device.cores.end())
      throw UsageError(fmt::format(
          "[--cores] no such core on this machine, or not for this process; got {}, expected some of {}; try "
          "'mete machine'",
          core, fmt::join(device.cores, ",")));
  if (!flags.cores.empty() && flags.threads > 0 && int(flags.cores.size()) != flags.threads)
    throw UsageError(fmt::format(
        "[--cores] needs a core for each thread; got {} for {} threads, expected {}; try without --threads",
        flags.cores.size(), flags.threads, flags.threads));
}

void ParseCores(const std::vector<std::string>& words, ModelFlags& flags) {
  bool any_speed = false;
  for (const std::string& word : words) {
    const size_t colon = word.find(':');
    const char *at = word.data(), *end = at + std::min(colon, word.size());
    int core = -1;
    double speed = 1;
    const auto number = std::from_chars(at, end, core);
    bool good = number.ec == std::errc() && number.ptr == end && core >= 0;
    if (colon != std::string::npos) {
      const char* last = word.data() + word.size();
      const auto share = std::from_chars(end + 1, last, speed);
      good = good && share.ec == std::errc() && share.ptr == last && speed >= kLeastSpeed && speed <= 1;
      any_speed = true;
    }
    if (!good)
      throw UsageError(fmt::format(
          "[--cores] not a core; got '{}', expected a number, or a number and a speed of {} to 1; "
          "try 0,1 or 0:1.0,1:0.4",
          word, kLeastSpeed));
    flags.cores.push_back(core);
    flags.speeds.push_back(speed);
  }
  if (!any_speed) flags.speeds.clear();
}

void AddLoadFlags(CLI::App& command, ModelFlags& flags) {
  command
      .add_option(
          "MODEL", flags.model,
          "an ONNX model (.onnx), a TensorFlow Lite model (.tflite), or a Caffe network (.prototxt, its "
          ".caffemodel beside it)")
      ->required();
  command
      .add_option(
          "--shape", flags.shapes,
          "what the file leaves open: an input's shape (data=1x3x224x224, or 1x3x224x224 where there is one "
          "input) or a dimension's size (T=128); may be repeated")
      ->type_name("SHAPE")
      ->take_all()
      ->allow_extra_args(false)
      ->group(kModelGroup);
  command.add_option("--weights", flags.weights, "the .caffemodel of a .prototxt that has another name")
      ->type_name("FILE")
      ->group(kModelGroup);
  command
      .add_option("--operators", flags.operators,
                  "a shared library with operators of your own (mete/custom_operator.h); may be repeated")
      ->type_name("FILE")
      ->take_all()
      ->allow_extra_args(false)
      ->group(kModelGroup);
  command
      .add_option("--disable-pass", flags.disabled_passes, "leave out an optimising pass; may be repeated")
      ->type_name("NAME")
      ->take_all()
      ->allow_extra_args(false)
      ->check(OneOf(PassNames()))
      ->group(kModelGroup);
  command.add_flag("--no-optimize", flags.no_optimize, "only fold constants")->group(kModelGroup);
  command
      .add_flag(
          "--onnxruntime-sums", flags.onnxruntime_sums,
          "sum 8-bit convolutions as ONNX Runtime does, some of them in floats, and not all as integers")
      ->group(kModelGroup);
  AddPrecisionFlags(command, flags);
}

void AddPrecisionFlags(CLI::App& command, ModelFlags& flags) {
  command
      .add_option(
          "--precision", flags.precision,
          "what products may round where that is sooner: f32 (default) nothing; bf16, f16 inputs and "
          "weights; "
          "w8, w4 weights of products of one row, to 8 or 4 bits; auto each product as is soonest, within "
          "--error-bound")
      ->type_name("TYPE")
      ->check(OneOf({"f32", "bf16", "f16", "w8", "w4", "auto"}))
      ->group(kModelGroup);
  command
      .add_option(
          "--error-bound", flags.error_bound,
          "with --precision auto: how far outputs may be from those of f32, as a share of the largest "
          "output")
      ->type_name("SHARE")
      ->capture_default_str()
      ->check(CLI::Range(1e-9, 0.999))
      ->group(kModelGroup);
}

void AddCoresFlag(CLI::App& command, ModelFlags& flags) {
  command
      .add_option_function<std::vector<std::string>>(
          "--cores", [&flags](const std::vector<std::string>& words) { ParseCores(words, flags); },
          "CPU numbers to pin the threads to; 0:1.0,1:0.4 emulates a core of 0.4 of its speed")
      ->type_name("0,1,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kMachineGroup);
}

void AddSessionFlags(CLI::App& command, ModelFlags& flags) {
  command.add_flag("--reference", flags.reference, "force the slow, readable reference kernels")
      ->group(kMachineGroup);
  command
      .add_option(
          "--tune", flags.tune,
          "measure once which kernels are the fastest: before the first answer, after it (between the "
          "first runs, in a tenth of their time), or never (go by estimates); the times are kept")
      ->type_name("WHEN")
      ->check(OneOf(TuneWords()))
      ->capture_default_str()
      ->group(kMachineGroup);
  command.add_option("--threads", flags.threads, "threads; 0: one for every core that this process may use")
      ->type_name("N")
      ->check(Between(0, 1024))
      ->capture_default_str()
      ->group(kMachineGroup);
  AddCoresFlag(command, flags);
  command
      .add_option("--policy", flags.policy,
                  "how work reaches the threads: by the speed that each shows (adaptive, the default), in "
                  "equal slices, or, to compare with: ratio, asymo, sani")
      ->type_name("NAME")
      ->check(OneOf({"equal", "ratio", "asymo", "sani", "adaptive"}))
      ->group(kMachineGroup);
}

void AddModelFlags(CLI::App& command, ModelFlags& flags) {
  AddLoadFlags(command, flags);
  AddSessionFlags(command, flags);
  command.add_option("--plan", flags.plan, "run this plan instead of planning")
      ->type_name("FILE.json")
      ->group(kMachineGroup);
  command.add_option("--save-plan", flags.save_plan, "write the plan")
      ->type_name("FILE.json")
      ->group(kMachineGroup);
  command
      .add_flag("--cache-weights", flags.cache_weights,
                "keep packed weights in files and map them on the next start")
      ->group(kMachineGroup);
  command
      .add_flag("--explain", flags.explain,
                "print the plan: who does what, with which kernel, how fast, and why")
      ->group(kReportGroup);
  command.add_flag("--profile", flags.profile, "print where the time of a run went")->group(kReportGroup);
  command.add_option("--trace", flags.trace, "write a run's trace for chrome://tracing or Perfetto")
      ->type_name("FILE.json")
      ->group(kReportGroup);
}

void AddJsonFlag(CLI::App& command, Context& context) {
  command
      .add_flag("--json", context.json,
                "answer in JSON on stdout; errors and notes in JSON on stderr, a line each")
      ->group("Report");
}

std::pair<std::string, std::string> SplitAssignment(const std::string& text, const char* flag) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw UsageError(fmt::format("[{}] not an assignment; got '{}', expected NAME=VALUE", flag, text));
  return {text.substr(0, at), text.substr(at + 1)};
}

Shape ParseShape(const std::string& text, const char* flag) {
  Shape shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int64_t dim = 0;
    const auto [next, error] = std::from_chars(at, end, dim);
    const bool more = next != end && (*next == 'x' || *next == ',');
    if (error != std::errc() || dim < 0 || (next != end && !more) || shape.rank() == Shape::kMaxRank)
      throw UsageError(fmt::format("[{}] not a shape; got '{}', expected up to {} sizes like 1x3x224x224",
                                   flag, text, int(Shape::kMaxRank)));
    shape.push_back(dim);
    if (next == end) return shape;
    at = next + 1;
  }
}

Model LoadQuietly(const ModelFlags& flags, const Context& context, double* load_ms,
                  const std::map<std::string, Shape>& tensors) {
  LoadOptions options = LoadOptionsOf(flags);
  options.tensor_shapes = tensors;
  const Progress progress(context, "loading " + flags.model);
  const Stopwatch watch;
  for (const std::string& library : flags.operators) LoadOperators(library);
  Model model = Model::Load(flags.model, options);
  if (load_ms) *load_ms = watch.ms();
  return model;
}

void PrintNotes(const Model& model, const Context& context) {
  for (const std::string& note : model.notes()) PrintNote(context, note);
}

Model LoadModel(const ModelFlags& flags, const Context& context, double* load_ms,
                const std::map<std::string, Shape>& tensors) {
  Model model = LoadQuietly(flags, context, load_ms, tensors);
  PrintNotes(model, context);
  return model;
}

SessionOptions SessionOptionsOf(const ModelFlags& flags) {
  SessionOptions options;
  options.threads = flags.threads > 0 ? flags.threads : int(flags.cores.size());
  options.cores = flags.cores;
  options.speeds = flags.speeds;
  if (!flags.policy.empty()) options.policy = flags.policy;
  options.reference = flags.reference;
  options.tune = TuneOf(flags);
  options.tuning_cache = CacheFolder();
  options.profile_cache = CacheFolder();
  options.packed_cache = PackedCache(flags);
  if (!flags.plan.empty()) options.plan_json = ReadTextFile(flags.plan, "--plan");
  return options;
}

Session MakeSession(const Model& model, SessionOptions options, const std::string& label,
                    const Context& context) {
  CheckCancelled(context);
  Session session = [&] {
    Progress progress(context, label);
    options.progress = [&](int done, int all) {
      CheckCancelled(context);
      progress.Update(done, all);
    };
    return Session(model, options);
  }();
  for (const std::string& note : session.Notes()) PrintNote(context, note);
  if (const auto cores = ThisDevice().cores.size(); session.stats().threads > int(cores))
    PrintNote(context,
              fmt::format("{} threads share {} core{}, so more of them do not help; try --threads {}",
                          session.stats().threads, cores, cores == 1 ? "" : "s", cores));
  return session;
}

Session MakeSession(const Model& model, const ModelFlags& flags, const Context& context) {
  CheckCores(flags);
  const bool measures = TuneOf(flags) == Tune::kBefore && !flags.reference;
  const char* what = measures ? "choosing kernels of" : "preparing";
  Session session = [&] {
    try {
      return MakeSession(model, SessionOptionsOf(flags), fmt::format("{} {}, node", what, flags.model),
                         context);
    } catch (const Error& e) {
      if (flags.plan.empty() || e.code() != Code::kInvalidArgument) throw;
      throw Error(
          e.code(),
          fmt::format(
              "[--plan {}] this plan does not serve {} here; try to plan again with --save-plan {}\n{}",
              flags.plan, flags.model, flags.plan, e.what()));
    }
  }();
  if (!flags.save_plan.empty()) WriteTextFile(flags.save_plan, session.PlanJson() + "\n");
  return session;
}

void ReportTrace(const Trace& trace, const ModelFlags& flags, const Context& context, Json& json) {
  if (!flags.trace.empty()) WriteTextFile(flags.trace, trace.ChromeJson() + "\n");
  if (!flags.profile) return;
  if (!context.json) {
    const int columns = TerminalColumns(1);
    fmt::print("\n{}\n{}", trace.TableByOperator(columns), trace.Table(kProfileRows, columns));
    return;
  }
  Json events = Json::array();
  for (const TraceEvent& e : trace.events) events.push_back(EventJson(e));
  json["profile"] = {{"total_us", double(trace.total_ns) * 1e-3}, {"events", events}};
}

void Settle(Session& session, const Context& context) {
  if (session.settled()) return;
  const std::vector<std::string> told = session.Notes();
  {
    const Progress progress(context, "choosing kernels");
    session.Settle();
  }
  for (const std::string& note : session.Notes())
    if (std::find(told.begin(), told.end(), note) == told.end()) PrintNote(context, note);
}

void ReportPlan(Session& session, const ModelFlags& flags, const Context& context,
                const std::function<void(Trace*)>& run, Json& json) {
  if (!flags.explain) return;
  Settle(session, context);
  Trace least;
  {
    Progress progress(context, "measuring every node, run");
    for (int i = 0; i < kExplainRuns; ++i) {
      Trace trace;
      run(&trace);
      if (i == 0) least = std::move(trace);
      else least.KeepLeast(trace);
      progress.Update(i + 1, kExplainRuns);
    }
  }
  const DeviceLimits limits = MeasureLimits(session.stats().threads);
  const std::string text = session.Explain(least, limits, context.json ? 0 : TerminalColumns(1));
  if (!context.json) {
    fmt::print("{}\n", text);
    return;
  }
  json["explain"] = text;
  json["limits"] = {{"gflops", limits.gflops}, {"read_gbytes", limits.read_gbytes}};
  json["steps"] = Json::array();
  for (const StepInfo& s : session.Steps(least)) json["steps"].push_back(StepJson(s));
}

Json StepJson(const StepInfo& s) {
  Json json{{"node", s.node},
            {"op", s.op},
            {"processor", s.processor},
            {"threads", s.threads},
            {"policy", s.policy},
            {"kernel", s.kernel},
            {"us", double(s.ns) * 1e-3},
            {"flops", s.flops},
            {"computed_flops", s.computed_flops},
            {"bytes", s.bytes},
            {"precision", s.precision},
            {"why", s.why}};
  if (s.predicted_us > 0) json["predicted_us"] = s.predicted_us;
  return json;
}

Json PortsJson(const std::vector<Port>& ports) {
  Json list = Json::array();
  for (const Port& p : ports) {
    Json shape = nullptr;
    if (p.shape.known()) shape = std::vector<int64_t>(p.shape.begin(), p.shape.end());
    list.push_back({{"name", p.name}, {"type", Name(p.type)}, {"shape", shape}});
    if (p.declared.known() && p.declared != p.shape) {
      list.back()["declared"] = std::vector<int64_t>(p.declared.begin(), p.declared.end());
      list.back()["dims"] = p.dims;
    }
    if (p.scale) {
      list.back()["scale"] = p.scale->scale;
      list.back()["zero_point"] = p.scale->zero_point;
    }
  }
  return list;
}

}  // namespace mete::cli
