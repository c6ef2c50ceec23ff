#include "report/plan_section.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "pool_figure.h"

namespace mete::cli {
namespace {

// Times that are infinite say that there is none, for which JSON has null.
Json TimeJson(double us) { return std::isfinite(us) ? Json(us) : Json(nullptr); }

Json ShareJson(const PoolPlan& plan, const PoolPlan::Share& share) {
  return {{"processor", share.processor},   {"part", share.part},
          {"bytes", share.bytes},           {"ready_us", share.ready_us},
          {"compute_us", share.compute_us}, {"name", plan.processors[size_t(share.processor)].name}};
}

Json GroupJson(const PoolPlan& plan, const PoolPlan::Group& group) {
  Json json{
      {"layers", group.layers}, {"us", group.us}, {"shares", Json::array()}, {"instead", Json::array()}};
  for (const PoolPlan::Share& share : group.shares) json["shares"].push_back(ShareJson(plan, share));
  for (const PoolPlan::Instead& other : group.instead)
    json["instead"].push_back({{"how", other.how}, {"us", TimeJson(other.us)}});
  return json;
}

Json ProcessorJson(const PoolPlan::Processor& processor) {
  return {{"name", processor.name},
          {"used", processor.is_used},
          {"compute_us", processor.compute_us},
          {"up_us", processor.up_us},
          {"down_us", processor.down_us},
          {"sent_bytes", processor.sent_bytes},
          {"received_bytes", processor.received_bytes},
          {"alone_us", TimeJson(processor.alone_us)},
          {"lacks", processor.lacks}};
}

Json TransferJson(const PoolPlan& plan, const PoolPlan::Transfer& transfer) {
  return {{"before_group", transfer.before_group},
          {"from", plan.processors[size_t(transfer.from)].name},
          {"to", plan.processors[size_t(transfer.to)].name},
          {"bytes", transfer.bytes},
          {"us", transfer.us}};
}

// "1.62 times as long"
std::string TimesText(double us, const PoolPlan& plan) {
  return fmt::format("{:.2f} times as long", us / plan.predicted_us);
}

// Returns the summary, or of a plan of many groups which processors share them.
std::string ShortSummary(const PoolPlan& plan) {
  constexpr size_t kMostGroups = 3;  // a guess: readers skip the end of a sentence that names more groups
  if (plan.groups.size() <= kMostGroups) return plan.summary;
  std::string used;
  for (const PoolPlan::Processor& processor : plan.processors)
    if (processor.is_used) used += (used.empty() ? "" : ", ") + processor.name;
  return fmt::format("{} groups of layers on {}", plan.groups.size(), used);
}

void AddChoice(const std::string& name, double us, const std::string& why, Report& report) {
  report.choices.push_back({{"name", name}, {"us", TimeJson(us)}, {"chosen", false}, {"why", why}});
}

// What is told of a processor that has all layers to itself.
std::string WhyNotAlone(const PoolPlan& plan, const PoolPlan::Processor& processor) {
  if (!std::isfinite(processor.alone_us))
    return processor.lacks.empty() ? "it cannot compute all layers" : processor.lacks[0];
  return TimesText(processor.alone_us, plan);
}

void AddChoices(const PoolPlan& plan, Report& report) {
  report.choices.push_back(
      {{"name", "the plan"}, {"us", plan.predicted_us}, {"chosen", true}, {"why", ShortSummary(plan)}});
  std::set<int> kinds;  // of processors with the same costs the first stands for all
  for (const PoolPlan::Processor& processor : plan.processors)
    if (kinds.insert(processor.alike).second)
      AddChoice(processor.name + " alone", processor.alone_us, WhyNotAlone(plan, processor), report);
  for (const PoolPlan::LeftOut& out : plan.left_out) {
    const std::string& name = plan.processors[size_t(out.processor)].name;
    if (std::isfinite(out.us))
      AddChoice("with a part for " + name, out.us,
                TimesText(out.us, plan) + ": the best plan in which it has a part", report);
  }
}

// Compares the plan with the best single processor, by the figure that the plan has least of.
std::string BesideAlone(const PoolPlan& plan) {
  const PoolPlan::Processor& best = plan.processors[size_t(plan.best_alone)];
  if (!std::isfinite(best.alone_figure)) return "No processor can compute all layers alone.";
  return fmt::format("The best single processor, {}, would {} {}: {:.2f} times as {}.", best.name,
                     plan.objective == "throughput" ? "have a period of" : "take",
                     FigureText(best.alone_figure, plan.objective), best.alone_figure / plan.figure,
                     plan.objective == "energy" ? "much" : "long");
}

void SayPlan(const PoolPlan& plan, Report& report) {
  report.says.push_back(fmt::format("The plan: {}.", ShortSummary(plan)));
  report.says.push_back(fmt::format("A request is predicted to take {}. {}",
                                    FormatMs(plan.predicted_us * 1e-3), BesideAlone(plan)));
  if (plan.objective == "throughput")
    report.says.push_back(
        fmt::format("From one request to the next are {}.", FormatMs(plan.period_us * 1e-3)));
  if (plan.joules > 0)
    report.says.push_back(fmt::format("A request is predicted to take {}.", JoulesText(plan.joules)));
  for (const PoolPlan::LeftOut& out : plan.left_out)
    report.says.push_back(
        fmt::format("{} has no part: {}.", plan.processors[size_t(out.processor)].name,
                    std::isfinite(out.us)
                        ? fmt::format("with one a request would take {} at least", FormatMs(out.us * 1e-3))
                        : "no plan with one was weighed"));
}

}  // namespace

void AddPlan(const PoolPlan& plan, Report& report) {
  Json json{{"objective", plan.objective},       {"summary", plan.summary},     {"note", plan.note},
            {"predicted_us", plan.predicted_us}, {"gather_us", plan.gather_us}, {"groups", Json::array()},
            {"processors", Json::array()},       {"transfers", Json::array()}};
  for (const PoolPlan::Group& group : plan.groups) json["groups"].push_back(GroupJson(plan, group));
  for (const PoolPlan::Processor& p : plan.processors) json["processors"].push_back(ProcessorJson(p));
  for (const PoolPlan::Transfer& t : plan.transfers) json["transfers"].push_back(TransferJson(plan, t));
  report.plan = std::move(json);
  if (plan.objective == "latency") AddChoices(plan, report);
  SayPlan(plan, report);
}

void AddEnergy(const std::vector<PoolPlan>& plans, const std::string& chosen, Report& report) {
  for (const PoolPlan& plan : plans) {
    if (plan.joules <= 0) continue;
    report.energy.push_back({{"name", "planned for " + plan.objective},
                             {"us", plan.predicted_us},
                             {"joules", plan.joules},
                             {"chosen", plan.objective == chosen}});
    if (plan.objective != "energy") continue;
    std::set<int> kinds;
    for (const PoolPlan::Processor& processor : plan.processors)
      if (std::isfinite(processor.alone_us) && kinds.insert(processor.alike).second)
        report.energy.push_back({{"name", processor.name + " alone"},
                                 {"us", processor.alone_us},
                                 {"joules", processor.alone_figure},
                                 {"chosen", false}});
  }
}

}  // namespace mete::cli
