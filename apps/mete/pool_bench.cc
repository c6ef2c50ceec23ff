// mete bench --processors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <tuple>

#include "base/difference.h"
#include "pool_figure.h"
#include "pool.h"
#include "on_command.h"
#include "inputs.h"
#include "mete/statistics.h"
#include "stopwatch.h"
#include "terminal.h"

namespace mete::cli {
namespace {

// of the largest value: more than f32's sums in another order differ by. Guess
constexpr double kWrong = 1e-3;
constexpr int kRounds = 20;    // of plans that run in turns; guess: a median within a percent or two
constexpr int kAloneRuns = 5;  // of the home alone, to compare with

struct Measured {
  std::vector<double> ms;
  double period_ms = 0;  // from one answer to the next, in the mean
  int64_t alone = 0, wrong = 0;
  int64_t alone_at_end = 0;        // in a row, the last one too; 0: processors were in use then
  std::vector<double> compute_us;  // by device, the least of all requests
  double apart = 0;                // the largest of requests that were not computed by the home alone
  bool interrupted = false;        // before the end; what was measured until then counts
};

// Requests, as many at a time as there are lanes.
class Load {
 public:
  Load(Session& session, const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected, double bound,
       const Context& context)
      : session_(session), inputs_(inputs), expected_(expected), bound_(bound), context_(context) {}

  Measured Run(int lanes, int runs, double seconds) {
    Progress progress(context_, "request");
    const Stopwatch watch;
    const auto more = [&] { return runs > 0 ? begun_ < runs : begun_ < 5 || watch.ms() < seconds * 1e3; };
    std::vector<std::future<void>> all;
    for (int lane = 0; lane < lanes; ++lane)
      all.push_back(std::async(std::launch::async, [&] {
        for (bool go = Begin(more); go; go = Begin(more)) {
          One();
          std::lock_guard lock(mutex_);
          progress.Update(int(measured_.ms.size()), runs);
        }
      }));
    for (auto& lane : all) {
      try {
        lane.get();
      } catch (const Error& e) {
        if (e.code() != Code::kCancelled) throw;
        measured_.interrupted = true;
      }
    }
    if (measured_.interrupted && measured_.ms.empty()) CheckCancelled(context_);
    measured_.period_ms = watch.ms() / double(measured_.ms.size());
    return std::move(measured_);
  }

 private:
  bool Begin(const std::function<bool()>& more) {
    CheckCancelled(context_);
    std::lock_guard lock(mutex_);
    return more() && ++begun_;
  }

  void One() {
    RunReport report;
    const std::vector<Tensor> outputs = session_.Run(inputs_, {.report = &report});
    const double apart = LargestDifference(outputs, expected_);
    std::lock_guard lock(mutex_);
    measured_.ms.push_back(report.us * 1e-3);
    measured_.alone += report.alone;
    measured_.alone_at_end = report.alone ? measured_.alone_at_end + 1 : 0;
    if (measured_.compute_us.empty()) measured_.compute_us = report.compute_us;
    for (size_t d = 0; d < std::min(measured_.compute_us.size(), report.compute_us.size()); ++d)
      measured_.compute_us[d] = std::min(measured_.compute_us[d], report.compute_us[d]);
    measured_.wrong += apart > bound_;
    measured_.apart = std::max(measured_.apart, apart);
  }

  Session& session_;
  const std::vector<Tensor>&inputs_, &expected_;
  const double bound_;
  const Context& context_;
  std::mutex mutex_;
  int begun_ = 0;
  Measured measured_;
};

// What each processor was predicted to compute, and what it took.
Json ComputingJson(const PoolStats& stats, const Measured& measured) {
  Json json = Json::array();
  for (size_t p = 0; p < measured.compute_us.size() && p < stats.parts.size(); ++p)
    json.push_back({{"processor", stats.parts[p].processor},
                    {"predicted_ms", stats.parts[p].compute_us * 1e-3},
                    {"least_ms", measured.compute_us[p] * 1e-3},
                    {"bytes", stats.parts[p].bytes}});
  return json;
}

// What the process's memory has of each processor. Those of workers are elsewhere.
Json MemoryJson(const PoolStats& stats) {
  Json json = Json::array();
  for (const PoolStats::Part& part : stats.parts)
    json.push_back({{"processor", part.processor},
                    {"weights_bytes", part.weights_bytes},
                    {"values_bytes", part.values_bytes}});
  return json;
}

std::string MemoryText(int64_t peak_bytes, const PoolStats& stats) {
  std::string text = FormatBytes(peak_bytes) + " at most";
  for (const PoolStats::Part& part : stats.parts)
    if (part.weights_bytes + part.values_bytes > 0)
      text += fmt::format("; {}: weights {}, activations {}", part.processor, FormatBytes(part.weights_bytes),
                          FormatBytes(part.values_bytes));
  return text;
}

// What the requests showed, and what it is to be seen beside.
struct PoolResult {
  std::string model;
  const PoolFlags& flags;
  const PoolFigures& figures;
  PoolStats planned;  // before the requests
  Measured measured;
  double alone_ms = 0;  // of the home, the median
  std::string best;     // of single processors, as the costs have it
  double best_us = 0;
  PoolStats stats;                // after them
  int64_t peak_memory_bytes = 0;  // of the process, until then
};

Json ResultJson(const PoolResult& r) {
  const Spread time = Summarize(r.measured.ms);
  return {{"model", r.model},
          {"planner", r.flags.planner},
          {"plan", r.planned.plan},
          {"groups", r.planned.groups},
          {"computing", ComputingJson(r.planned, r.measured)},
          {"predicted_ms", r.planned.predicted_us * 1e-3},
          {"predicted_joules", r.planned.joules},
          {"interrupted", r.measured.interrupted},
          {"median_ms", time.median},
          {"mad_ms", time.mad},
          {"p95_ms", time.p95},
          {"p99_ms", time.p99},
          {"min_ms", time.least},
          {"max_ms", time.most},
          {"requests", time.count},
          {"lanes", r.flags.lanes},
          {"period_ms", r.measured.period_ms},
          {"predicted_period_ms", r.planned.period_us * 1e-3},
          {"computed_alone", r.measured.alone},
          {"computed_alone_at_end", r.measured.alone_at_end},
          {"wrong", r.measured.wrong},
          {"largest_difference", r.measured.apart},
          {"retries", r.stats.retries},
          {"plans", r.stats.plans},
          {"processors_lost", r.stats.lost},
          {"home_alone_ms", r.alone_ms},
          {"best_single_processor", r.best},
          {"best_single_processor_predicted_ms", r.best_us * 1e-3},
          {"plan_s", r.stats.plan_s},
          {"plans_measured", r.stats.measured},
          {"peak_memory_bytes", r.peak_memory_bytes},
          {"memory", MemoryJson(r.stats)},
          {"profile_s", r.figures.seconds},
          {"profile_prepare_s", r.figures.prepare_seconds}};
}

void PrintResult(const PoolResult& r) {
  const Style style = StyleOf(1);
  const Spread time = Summarize(r.measured.ms);
  const size_t processors = r.planned.parts.size();
  PrintText(fmt::format("{}{}{} on {} processor{}, planner {}", style.bold, r.model, style.reset, processors,
                        processors == 1 ? "" : "s", r.flags.planner));
  Rows rows{{"plan", r.planned.plan},
            {"predicted", FormatMs(r.planned.predicted_us * 1e-3) +
                              (r.planned.joules > 0 ? ", " + JoulesText(r.planned.joules) : "")},
            {"median", fmt::format("{} +- {} (median absolute deviation of {} requests{})",
                                   FormatMs(time.median), FormatMs(time.mad), time.count,
                                   r.measured.interrupted ? " until the interrupt" : "")},
            {"period", fmt::format("{} from one answer to the next, {} at a time; predicted {}",
                                   FormatMs(r.measured.period_ms), r.flags.lanes,
                                   FormatMs(r.planned.period_us * 1e-3))},
            {"p95, p99", fmt::format("{}, {}", FormatMs(time.p95), FormatMs(time.p99))},
            {"least, most", fmt::format("{}, {}", FormatMs(time.least), FormatMs(time.most))},
            {"home alone", FormatMs(r.alone_ms)},
            {"best single processor", fmt::format("{}, {} predicted", r.best, FormatMs(r.best_us * 1e-3))},
            {"answers", fmt::format("{} wrong, {} computed by the home alone, {} computed again; at most "
                                    "{:.2g} of the largest value apart from "
                                    "the home's",
                                    r.measured.wrong, r.measured.alone, r.stats.retries, r.measured.apart)},
            {"memory", MemoryText(r.peak_memory_bytes, r.stats)}};
  fmt::print("{}", FormatList(rows, "  "));
}

// Returns what the session has measured. Where it could not, since a processor is not there, measuring says
// why.
PoolFigures FiguresOf(const Pool& pool, const Model& model, const PoolOptions& options) {
  if (const std::optional<PoolFigures> measured = pool.Measured(model, options)) return *measured;
  return pool.Measure(model, options);
}

}  // namespace

void BenchPool(const ModelFlags& model_flags, const PoolFlags& flags,
               const std::vector<std::string>& input_words, uint64_t seed, int runs, double seconds,
               const Context& context) {
  const std::vector<TensorFile> files = ReadTensorFiles(input_words);
  const Model model = LoadModel(model_flags, context, nullptr, ShapesOf(files));
  std::vector<Tensor> inputs = PlaceTensors(model, files);
  FillRandom(model, seed, inputs);
  Session session = MakePoolSession(model, model_flags, flags, context);
  SettlePool(session, context);
  const Pool pool = PoolFor(flags.processors).WithExactBytes(flags.exact);
  const PoolFigures figures = FiguresOf(pool, model, PoolOptionsOf(model_flags, context));
  if (!flags.beside.empty())
    return ComparePlans(session, figures, inputs, model_flags.model, flags.beside, runs > 0 ? runs : kRounds,
                        context);
  std::vector<double> alone_ms;
  std::vector<Tensor> expected;
  for (int i = 0; i <= kAloneRuns; ++i) {
    const Stopwatch watch;
    expected = RunAtHome(session, inputs);
    if (i > 0) alone_ms.push_back(watch.ms());
  }
  PoolResult result{
      model_flags.model, flags, figures, session.pool_stats(), {}, Summarize(alone_ms).median, "", 0, {}, 0};
  for (int i = 0; i < 3; ++i) (void)session.Run(inputs);  // not counted
  const bool exact = flags.transfer == "f32";
  result.measured =
      Load(session, inputs, expected, exact ? kWrong : INFINITY, context).Run(flags.lanes, runs, seconds);
  result.stats = session.pool_stats();
  result.peak_memory_bytes = StatusKib("VmHWM:") * 1024;
  PoolOptions kernels;
  kernels.kernels = PoolOptionsOf(model_flags, context).kernels;
  const PoolPlan weighed = pool.Plan(model, kernels);
  result.best = weighed.processors[size_t(weighed.best_alone)].name;
  result.best_us = weighed.processors[size_t(weighed.best_alone)].alone_us;
  if (context.json) PrintJson(ResultJson(result));
  else PrintResult(result);
  if (result.measured.interrupted)
    throw Error(Code::kCancelled,
                fmt::format("[bench] interrupted; what is printed is of the {} requests until then",
                            result.measured.ms.size()));
}

}  // namespace mete::cli
