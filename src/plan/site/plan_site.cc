#include "plan/site/plan_site.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "plan/pool/plan_for.h"
#include "plan/site/best_cut.h"
#include "plan/site/ways.h"

namespace mete {
namespace {

// As a pool waits for a processor: four times the usual time, and some more (run/pool_session.cc).
constexpr double kPatience = 4, kLeastPatienceMs = 250;

// The device's pool is planned for the objective, if its power is known where that counts.
Plan PlanDevice(const Graph& graph, const SiteCosts& costs, PoolObjective objective) {
  const PoolCosts device = DevicePool(costs);
  const bool has_power = std::all_of(device.processors.begin(), device.processors.end(),
                                     [](const ProcessorCosts& p) { return p.power.has_value(); });
  return PlanPoolFor(objective == PoolObjective::kEnergy && !has_power ? PoolObjective::kLatency : objective,
                     graph, device);
}

std::string MsText(double ms) {
  return ms < 10 ? fmt::format("{:.2f} ms", ms) : fmt::format("{:.1f} ms", ms);
}

std::string FigureText(const SiteWay& way, const SiteObjective& objective) {
  switch (objective.of) {
    case PoolObjective::kThroughput: return MsText(way.period_ms) + " a request";
    case PoolObjective::kEnergy:
      return fmt::format("{:.3g} J in {}", way.joules.value_or(0), MsText(way.steps.total_ms()));
    case PoolObjective::kLatency: break;
  }
  return MsText(way.steps.total_ms());
}

// Returns "its upload takes 30.0 ms rather than 0.00 ms", of the step that costs the second way most beside
// the first.
std::string StepText(const SiteWay& first, const SiteWay& second) {
  struct Step {
    const char* name;
    double SiteSteps::*ms;
  };
  constexpr Step kSteps[] = {{"load", &SiteSteps::load_ms},
                             {"preprocessing", &SiteSteps::preprocess_ms},
                             {"upload", &SiteSteps::upload_ms},
                             {"computing", &SiteSteps::compute_ms}};
  const auto longer = [&](const Step& step) { return second.steps.*step.ms - first.steps.*step.ms; };
  const Step& step = *std::max_element(std::begin(kSteps), std::end(kSteps),
                                       [&](const Step& a, const Step& b) { return longer(a) < longer(b); });
  return fmt::format("its {} takes {} rather than {}", step.name, MsText(second.steps.*step.ms),
                     MsText(first.steps.*step.ms));
}

std::string ReasonFor(const SitePlan& plan, const SiteObjective& objective) {
  const SiteWay& best = plan.way();
  std::string reason =
      plan.in_time
          ? fmt::format("{} takes {}", NameOf(best.candidate), FigureText(best, objective))
          : fmt::format("no way is done within {} at the link's 95th percentile; {} is the soonest with {}",
                        MsText(objective.deadline_ms), NameOf(best.candidate), MsText(best.steps.total_ms()));
  const SiteWay* next = nullptr;
  for (const SiteWay& way : plan.ways)
    if (way.candidate != best.candidate && way.can() && (!next || IsBetter(way, *next, objective)))
      next = &way;
  if (!next) return reason + "; there is no other way";
  if (objective.of == PoolObjective::kEnergy && !next->joules)
    return reason + "; the joules of other ways are not known";
  if (objective.of == PoolObjective::kEnergy && plan.in_time && objective.deadline_ms > 0 &&
      next->late_ms > objective.deadline_ms)
    return fmt::format("{}; {} comes next and is late: {} at the link's 95th percentile", reason,
                       NameOf(next->candidate), MsText(next->late_ms));
  reason += fmt::format("; {} comes next with {}", NameOf(next->candidate), FigureText(*next, objective));
  return objective.of == PoolObjective::kLatency
             ? fmt::format("{}, because {}", reason, StepText(best, *next))
             : reason;
}

// Returns why no cut is searched for; "": one is. The other ways of `plan` are known.
std::string WhyNoCut(const SiteModel& model, const SitePlan& plan, const SiteObjective& objective) {
  const bool prunes = objective.prunes_cuts && objective.of == PoolObjective::kLatency;
  if (!objective.no_cuts.empty() || !prunes || !model.costs().has_server) return objective.no_cuts;
  const SiteWay& soonest =
      *std::min_element(plan.ways.begin(), plan.ways.end() - 1,
                        [&](const SiteWay& a, const SiteWay& b) { return IsBetter(a, b, objective); });
  const double least_ms = model.LeastCutMs();
  if (!soonest.can() || !std::isfinite(least_ms) || least_ms < soonest.steps.total_ms()) return "";
  return fmt::format("no cut can take less than {}, and {} takes {}", MsText(least_ms),
                     NameOf(soonest.candidate), MsText(soonest.steps.total_ms()));
}

void Choose(SitePlan& plan, const SiteObjective& objective) {
  const SiteWay* best = &plan.ways[0];
  for (const SiteWay& way : plan.ways)
    if (IsBetter(way, *best, objective)) best = &way;
  std::string whys;
  for (const SiteWay& way : plan.ways)
    whys += fmt::format("{}{}: {}", whys.empty() ? "" : "; ", NameOf(way.candidate), way.why_not);
  if (!best->can())
    Invalid("site", "no way to compute can be planned: {}; try a server, or measure how long the model loads",
            whys);
  if (objective.of == PoolObjective::kEnergy && !best->joules)
    Invalid("site",
            "the least joules are asked for, and the device's power is not known; try the objective latency");
  plan.choice = best->candidate;
  plan.in_time = objective.of != PoolObjective::kEnergy || objective.deadline_ms <= 0 ||
                 best->late_ms <= objective.deadline_ms;
}

}  // namespace

const char* NameOf(SiteCandidate candidate) {
  constexpr const char* kNames[kSiteCandidates] = {"device", "raw photo", "scaled photo", "cut"};
  return kNames[size_t(candidate)];
}

double GiveUpMs(const SiteWay& way, const SiteWay& device, double deadline_ms) {
  if (way.candidate == SiteCandidate::kDevice) return 0;
  const double patience_ms = kPatience * way.late_ms + kLeastPatienceMs;
  const double left_ms = deadline_ms - device.steps.total_ms();
  return device.can() && left_ms > 0 ? std::min(left_ms, patience_ms) : patience_ms;
}

double DeadlineAfterAsking(double deadline_ms, double asked_ms, const SiteWay& device) {
  return deadline_ms <= 0 ? 0 : deadline_ms - (asked_ms - device.ask_ms);
}

SitePlan PlanSite(const Graph& graph, const SiteCosts& costs, const SiteObjective& objective) {
  const SiteModel model(graph, costs);
  SitePlan plan;
  plan.device = PlanDevice(graph, costs, objective.of);
  plan.ways = {model.Device(plan.device), model.RawPhoto(), model.ScaledPhoto()};
  for (size_t c = 0; c < kSiteCandidates; ++c) plan.ways[c].candidate = SiteCandidate(c);
  plan.ways.back() = BestCut(model, objective, WhyNoCut(model, plan, objective));
  Choose(plan, objective);
  plan.reason = ReasonFor(plan, objective);
  plan.give_up_ms = GiveUpMs(plan.way(), plan.ways[0], objective.deadline_ms);
  return plan;
}

}  // namespace mete
