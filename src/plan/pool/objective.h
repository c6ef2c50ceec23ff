// The objectives of plans for several processors, and the figure of a plan for each objective.
//
//   latency      microseconds from a request to its outputs
//   throughput   the period: microseconds from one request to the next if requests follow each other without
//                a pause
//   energy       joules of a request
#pragma once

#include <array>
#include <string>
#include <vector>

#include "mete/pool.h"  // PoolObjectives(): the names, in the order above
#include "plan/pool/exchange.h"
#include "plan/plan.h"

namespace mete {

enum class PoolObjective { kLatency, kThroughput, kEnergy };

// Parses a name; throws Error with `where` for an unknown name.
PoolObjective ParsePoolObjective(const std::string& name, const std::string& where);

// The time for which a request occupies a link in both directions, messages included.
struct LinkLoad {
  double up_us = 0, down_us = 0;  // from the processor, to it
};

// The time for which a request occupies a processor and each of its links.
struct ProcessorLoad {
  double compute_us = 0;
  std::array<LinkLoad, kLinkKinds> links = {};

  LinkLoad& link(LinkKind kind) { return links[size_t(kind)]; }
  const LinkLoad& link(LinkKind kind) const { return links[size_t(kind)]; }
};
// Returns the loads of a plan, one per processor of the pool.
std::vector<ProcessorLoad> LoadsOf(const Graph& graph, const Plan& plan, const PoolCosts& pool);

// Adds the load of one message on the links of its sender and its receiver.
void AddLoad(const Transfer& transfer, const PoolCosts& pool, std::vector<ProcessorLoad>& loads);

// Returns the load of the busiest resource for a request; processors of the same hardware are one resource.
// Consecutive requests cannot finish more often than that. They nearly reach this rate if each resource works
// on the next request while it waits for its part of the current one.
double PeriodUs(const PoolCosts& pool, const std::vector<ProcessorLoad>& loads);

// Returns the processors that are on for a plan, ascending: the caller's own, and those that have a part of
// some group.
std::vector<int> ProcessorsOn(const Plan& plan);

// Throws Error if a processor has no power figures.
void CheckPower(const PoolCosts& pool);

// Returns the idle power of processors that are on, of the same hardware once. Each has power figures.
double IdleWatts(const PoolCosts& pool, const std::vector<int>& processors);

// Returns the energy of a request that takes `us`: the idle power of every processor that is on
// (ProcessorsOn) for all this time, the additional power of each processor while it computes, and the energy
// of each byte on both links to the network. Other processors are off. Throws the Error of CheckPower().
double JoulesOf(const Graph& graph, const Plan& plan, const PoolCosts& pool, double us);

// Fills in period_us, and joules if the pool has power figures, from the groups of the plan.
void RatePlan(Plan& plan, const Graph& graph, const PoolCosts& pool);

// Returns the predicted figure of a plan for an objective: microseconds, or joules.
double FigureOf(const Plan& plan, PoolObjective objective);

}  // namespace mete
