// mete bench --processors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <mutex>
#include <tuple>

#include "pool_figure.h"
#include "engine/model.h"
#include "pool.h"
#include "inputs.h"
#include "mete/statistics.h"
#include "plan/pool/dynamic.h"
#include "stopwatch.h"
#include "terminal.h"

namespace mete::cli {
namespace {

// of the largest value: more than f32's sums in another order differ by. Guess
constexpr double kWrong = 1e-3;
constexpr int kRounds = 20;    // of plans that run in turns; guess: a median within a percent or two
constexpr int kAloneRuns = 5;  // of this device alone, to compare with

struct Measured {
  std::vector<double> ms;
  double period_ms = 0;  // from one answer to the next, in the mean
  int64_t alone = 0, wrong = 0;
  int64_t alone_at_end = 0;        // in a row, the last one too; 0: processors were in use then
  std::vector<double> compute_us;  // by device, the least of all requests
  double apart = 0;                // the largest of requests that were not computed by this device alone
  bool interrupted = false;        // before the end; what was measured until then counts
};

// Requests, as many at a time as there are lanes.
class Load {
 public:
  Load(PoolSession& session, const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected,
       double bound, const Context& context)
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
    RequestReport report;
    const std::vector<Tensor> outputs = session_.Run(inputs_, &report);
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

  PoolSession& session_;
  const std::vector<Tensor>&inputs_, &expected_;
  const double bound_;
  const Context& context_;
  std::mutex mutex_;
  int begun_ = 0;
  Measured measured_;
};

// The best of single processors, as the costs have it.
std::pair<std::string, double> BestAlone(const Graph& graph, const PoolCosts& costs) {
  std::pair<std::string, double> best{"", INFINITY};
  for (size_t d = 0; d < costs.processors.size(); ++d)
    if (const double us = PlanAlone(graph, costs, int(d)).predicted_us; us < best.second)
      best = {costs.processors[d].name, us};
  return best;
}

Json ComparedJson(const ComparedPlan& c, const std::vector<ComparedPlan>& all) {
  const Spread time = Summarize(c.us);
  return {{"name", c.name},
          {"same_as", all[c.same_as].name},
          {"plan", PlanText(c.plan)},
          {"predicted_ms", c.plan.predicted_us * 1e-3},
          {"median_ms", time.median * 1e-3},
          {"min_ms", time.least * 1e-3},
          {"p95_ms", time.p95 * 1e-3},
          {"plan_s", c.plan_s},
          {"measured", c.measured}};
}

void ComparePlans(PoolSession& session, const PoolProfile& profile, const std::vector<Tensor>& inputs,
                  const std::string& model, const PoolFlags& flags, int rounds, const Context& context) {
  const std::vector<ComparedPlan> compared = [&] {
    const Progress progress(context, "planning, and running plans in turns");
    return session.Compare(flags.beside, inputs, rounds);
  }();
  if (context.json) {
    Json json{{"model", model},
              {"rounds", rounds},
              {"profile_s", profile.seconds},
              {"profile_prepare_s", profile.prepare_seconds},
              {"plans", Json::array()}};
    for (const ComparedPlan& c : compared) json["plans"].push_back(ComparedJson(c, compared));
    return PrintJson(json);
  }
  Rows rows{{"", "median", "least", "predicted", "over the chosen", "planned in", "runs for it", "plan"}};
  const double chosen = Summarize(compared[0].us).median;
  for (const ComparedPlan& c : compared) {
    const Spread time = Summarize(c.us);
    rows.push_back({c.name, FormatMs(time.median * 1e-3), FormatMs(time.least * 1e-3),
                    FormatMs(c.plan.predicted_us * 1e-3),
                    c.same_as == 0 ? "the same" : fmt::format("{:.2f}", time.median / chosen),
                    FormatMs(c.plan_s * 1e3), std::to_string(c.measured), PlanText(c.plan)});
  }
  PrintText(
      fmt::format("{}, {} rounds; single layers were measured in {:.1f} s", model, rounds, profile.seconds));
  fmt::print("{}", FormatTable(rows, "lrrrrrrw", "  "));
}

// What each device was predicted to compute, and what it took.
Json ComputingJson(const Plan& plan, const Measured& measured) {
  Json json = Json::array();
  for (size_t d = 0; d < measured.compute_us.size() && d < plan.processors.size(); ++d) {
    double predicted_us = 0;
    int64_t bytes = 0;
    for (const PlannedGroup& group : plan.groups)
      for (const Share& share : group.shares)
        if (size_t(share.processor) == d) predicted_us += share.compute_us, bytes += share.bytes;
    json.push_back({{"processor", plan.processors[d]},
                    {"predicted_ms", predicted_us * 1e-3},
                    {"least_ms", measured.compute_us[d] * 1e-3},
                    {"bytes", bytes}});
  }
  return json;
}

// What the requests showed, and what it is to be seen beside.
struct PoolResult {
  std::string model;
  const PoolFlags& flags;
  const PoolProfile& profile;
  Plan plan;
  Measured measured;
  double alone_ms = 0;  // of this device, the median
  std::string best;     // of single processors, as the costs have it
  double best_us = 0;
  PoolSessionStats stats;
};

Json ResultJson(const PoolResult& r) {
  const Spread time = Summarize(r.measured.ms);
  return {{"model", r.model},
          {"planner", r.flags.planner},
          {"plan", PlanText(r.plan)},
          {"groups", r.plan.groups.size()},
          {"computing", ComputingJson(r.plan, r.measured)},
          {"predicted_ms", r.plan.predicted_us * 1e-3},
          {"predicted_joules", r.plan.joules},
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
          {"predicted_period_ms", r.plan.period_us * 1e-3},
          {"computed_alone", r.measured.alone},
          {"computed_alone_at_end", r.measured.alone_at_end},
          {"wrong", r.measured.wrong},
          {"largest_difference", r.measured.apart},
          {"retries", r.stats.retries},
          {"plans", r.stats.plans},
          {"processors_lost", r.stats.lost},
          {"this_device_alone_ms", r.alone_ms},
          {"best_single_device", r.best},
          {"best_single_device_predicted_ms", r.best_us * 1e-3},
          {"plan_s", r.stats.plan_s},
          {"plans_measured", r.stats.measured},
          {"profile_s", r.profile.seconds},
          {"profile_prepare_s", r.profile.prepare_seconds}};
}

void PrintResult(const PoolResult& r) {
  const Style style = StyleOf(1);
  const Spread time = Summarize(r.measured.ms);
  PrintText(fmt::format("{}{}{} on {} processors, planner {}", style.bold, r.model, style.reset,
                        r.profile.costs.processors.size(), r.flags.planner));
  Rows rows{{"plan", PlanText(r.plan)},
            {"predicted", FormatMs(r.plan.predicted_us * 1e-3) +
                              (r.plan.joules > 0 ? ", " + JoulesText(r.plan.joules) : "")},
            {"median", fmt::format("{} +- {} (median absolute deviation of {} requests{})",
                                   FormatMs(time.median), FormatMs(time.mad), time.count,
                                   r.measured.interrupted ? " until the interrupt" : "")},
            {"period",
             fmt::format("{} from one answer to the next, {} at a time; predicted {}",
                         FormatMs(r.measured.period_ms), r.flags.lanes, FormatMs(r.plan.period_us * 1e-3))},
            {"p95, p99", fmt::format("{}, {}", FormatMs(time.p95), FormatMs(time.p99))},
            {"least, most", fmt::format("{}, {}", FormatMs(time.least), FormatMs(time.most))},
            {"this device alone", FormatMs(r.alone_ms)},
            {"best single device", fmt::format("{}, {} predicted", r.best, FormatMs(r.best_us * 1e-3))},
            {"answers", fmt::format("{} wrong, {} computed by this device alone, {} computed again; at most "
                                    "{:.2g} of the largest value apart from "
                                    "this device's",
                                    r.measured.wrong, r.measured.alone, r.stats.retries, r.measured.apart)}};
  fmt::print("{}", FormatList(rows, "  "));
}

}  // namespace

void BenchPool(const ModelFlags& model_flags, const PoolFlags& flags, std::vector<std::string> input_words,
               uint64_t seed, int runs, double seconds, const Context& context) {
  const std::vector<TensorFile> files = ReadTensorFiles(input_words);
  const Model model = LoadDivisible(model_flags, context, nullptr, ShapesOf(files));
  std::vector<Tensor> inputs = PlaceTensors(model, files);
  FillRandom(model, seed, inputs);
  const auto session = MakePoolSession(model, model_flags, flags, context);
  const PoolProfile profile =
      StoredPoolProfile(GraphOf(model), ThoseThatCan(PoolFor(flags.processors), GraphOf(model), nullptr));
  if (!flags.beside.empty())
    return ComparePlans(*session, profile, inputs, model_flags.model, flags, runs > 0 ? runs : kRounds,
                        context);
  std::vector<double> alone_ms;
  std::vector<Tensor> expected;
  for (int i = 0; i <= kAloneRuns; ++i) {
    const Stopwatch watch;
    expected = session->RunAtHome(inputs);
    if (i > 0) alone_ms.push_back(watch.ms());
  }
  PoolResult result{
      model_flags.model, flags, profile, session->plan(), {}, Summarize(alone_ms).median, "", 0, {}};
  for (int i = 0; i < 3; ++i) (void)session->Run(inputs);  // not counted
  const bool exact = flags.transfer == "f32";
  result.measured =
      Load(*session, inputs, expected, exact ? kWrong : INFINITY, context).Run(flags.lanes, runs, seconds);
  result.stats = session->stats();
  std::tie(result.best, result.best_us) = BestAlone(GraphOf(model), profile.costs);
  if (context.json) PrintJson(ResultJson(result));
  else PrintResult(result);
  if (result.measured.interrupted)
    throw Error(Code::kCancelled,
                fmt::format("[bench] interrupted; what is printed is of the {} requests until then",
                            result.measured.ms.size()));
}

}  // namespace mete::cli
