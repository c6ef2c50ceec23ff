#include "plan/pool/objective.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/ranges.h>

#include "base/error.h"
#include "plan/pool/plan_exchanges.h"

namespace mete {
namespace {

// Adds to the loads of a request what other requests do to it: while a processor has a group to itself,
// another one of its memory computes another request. Groups that several processors share have times that
// include what these do to each other. The first processor of some hardware stands for all of it.
void SlowRequests(const Plan& plan, const PoolCosts& pool, std::vector<ProcessorLoad>& loads) {
  std::vector<double> alone_us(loads.size(), 0);
  for (const PlannedGroup& group : plan.groups)
    if (group.shares.size() == 1)
      alone_us[size_t(FirstOfUnit(pool, group.shares[0].processor))] += group.shares[0].compute_us;
  std::vector<int> processors(loads.size());
  std::iota(processors.begin(), processors.end(), 0);
  std::vector<double> slowed_us = alone_us;
  SlowTogether(pool, processors, slowed_us);
  for (size_t d = 0; d < loads.size(); ++d) loads[d].compute_us += slowed_us[d] - alone_us[d];
}

}  // namespace

const std::vector<std::string>& PoolObjectives() {
  static const std::vector<std::string> names{"latency", "throughput", "energy"};
  return names;
}

PoolObjective ParsePoolObjective(const std::string& name, const std::string& where) {
  const auto& names = PoolObjectives();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    Invalid(where, "not an objective for several processors or a site; got '{}', expected one of: {}",
            Printable(name.substr(0, 40)), fmt::join(names, ", "));
  return PoolObjective(at - names.begin());
}

void AddLoad(const Transfer& t, const PoolCosts& pool, std::vector<ProcessorLoad>& loads) {
  const auto [kind, out, in] = LinkBetween(pool.processors[size_t(t.from)], pool.processors[size_t(t.to)]);
  loads[size_t(t.from)].link(kind).up_us += TransferUs(t.bytes, out.up_mbit_per_s);
  loads[size_t(t.to)].link(kind).down_us +=
      TransferUs(t.bytes, in.down_mbit_per_s) + std::max(out.message_us, in.message_us);
}

std::vector<ProcessorLoad> LoadsOf(const Graph& graph, const Plan& plan, const PoolCosts& pool) {
  std::vector<ProcessorLoad> loads(pool.processors.size());
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares) loads[size_t(share.processor)].compute_us += share.compute_us;
  PlanExchanges exchanges(graph, plan, pool);
  for (size_t at = 0; at < exchanges.count(); ++at)
    for (const Transfer& transfer : exchanges.At(at).All()) AddLoad(transfer, pool, loads);
  return loads;
}

double PeriodUs(const PoolCosts& pool, const std::vector<ProcessorLoad>& loads) {
  double us = 0;
  std::vector<double> compute_us(loads.size(), 0);  // of each hardware, at its first processor
  for (size_t d = 0; d < loads.size(); ++d) {
    const ProcessorLoad& load = loads[d];
    us = std::max(us, compute_us[size_t(FirstOfUnit(pool, int(d)))] += load.compute_us);
    for (const LinkLoad& link : load.links) us = std::max({us, link.up_us, link.down_us});
  }
  return us;
}

std::vector<int> ProcessorsOn(const Plan& plan) {
  std::set<int> on = UsedProcessors(plan);
  on.insert(0);
  return {on.begin(), on.end()};
}

void CheckPower(const PoolCosts& pool) {
  for (const ProcessorCosts& processor : pool.processors)
    if (!processor.power)
      Fail(Code::kFailedPrecondition, processor.name,
           "has no power figures; got none, expected its watts without work and while it computes; try "
           "idle_w and compute_w of each "
           "processor in a file of hosts, or machine files with idle_w and active_w of each cluster");
}

double IdleWatts(const PoolCosts& pool, const std::vector<int>& processors) {
  std::set<int> units;
  double watts = 0;
  for (const int d : processors)
    if (units.insert(FirstOfUnit(pool, d)).second) watts += pool.processors[size_t(d)].power->idle_w;
  return watts;
}

double JoulesOf(const Graph& graph, const Plan& plan, const PoolCosts& pool, double us) {
  CheckPower(pool);
  const auto power = [&](int processor) -> const PowerCosts& {
    return *pool.processors[size_t(processor)].power;
  };
  double joules = IdleWatts(pool, ProcessorsOn(plan)) * us * 1e-6;
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares)
      joules += power(share.processor).compute_w * share.compute_us * 1e-6;
  PlanExchanges exchanges(graph, plan, pool);
  for (size_t at = 0; at < exchanges.count(); ++at) joules += JoulesToSend(exchanges.At(at), pool);
  return joules;
}

void RatePlan(Plan& plan, const Graph& graph, const PoolCosts& pool) {
  if (std::isinf(plan.predicted_us)) {  // a processor lacks a layer of its share
    plan.period_us = plan.joules = plan.predicted_us;
    return;
  }
  std::vector<ProcessorLoad> loads = LoadsOf(graph, plan, pool);
  SlowRequests(plan, pool, loads);
  plan.period_us = PeriodUs(pool, loads);
  const bool known = std::all_of(pool.processors.begin(), pool.processors.end(),
                                 [](const ProcessorCosts& d) { return d.power.has_value(); });
  plan.joules = known ? JoulesOf(graph, plan, pool, plan.predicted_us) : 0;
}

double FigureOf(const Plan& plan, PoolObjective objective) {
  if (objective == PoolObjective::kThroughput) return plan.period_us;
  return objective == PoolObjective::kEnergy ? plan.joules : plan.predicted_us;
}

}  // namespace mete
