// Random pools, and the best plan by exhaustive search, for property tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "partition/random_graphs_testing.h"
#include "plan/pool/branches.h"
#include "plan/pool/dynamic.h"
#include "plan/pool/group_costs.h"
#include "plan/pool/plan_exchanges.h"

namespace mete {

// The last `of_a_worker` processors, if they are two or more, share the memory of one worker.
inline PoolCosts RandomPool(RandomGraph& random, const Graph& graph, int processors, int of_a_worker = 0) {
  PoolCosts pool;
  const size_t layers = LayersOf(graph).size();
  for (int d = 0; d < processors; ++d) {
    ProcessorCosts processor{std::string(1, char('a' + d)), {}, {}};
    processor.link = {double(random.Pick(0, 20)), double(random.Pick(0, 10)), double(random.Pick(50, 4000)),
                      double(random.Pick(50, 4000))};
    for (size_t l = 0; l < layers; ++l) {
      const double us = double(random.Pick(1, 300));
      processor.layers.push_back({us, us * 0.1 * double(random.Pick(0, 3))});
      if (l % 3 < 2) processor.layers.back().least_by_channels_us = us * 0.4 * double(l % 3);
    }
    processor.power = PowerCosts{0.1 * double(random.Pick(0, 10)), double(random.Pick(1, 10)),
                                 1e-9 * double(random.Pick(0, 50)), 1e-9 * double(random.Pick(0, 50))};
    if ((layers + size_t(d)) % 3 == 0)
      processor.share_us = 10.0 * double(d + 1);  // some processors launch shares
    pool.processors.push_back(std::move(processor));
  }
  for (int d = 0; d < processors; ++d)  // of half of all pools the first two processors slow each other
    if (d < 2 && layers % 2 == 0)
      pool.processors[size_t(d)].co_run = CoRun{"chip", 1 + 0.1 * double(random.Pick(0, 8))};
  for (int d = processors - of_a_worker; of_a_worker > 1 && d < processors; ++d)
    pool.processors[size_t(d)].memory =
        MemoryLink{"worker",
                   {double(random.Pick(0, 2)), double(random.Pick(0, 1)), double(random.Pick(1000, 100000)),
                    double(random.Pick(1000, 100000))}};
  return pool;
}

// Of random pools: seeds up to `plain` have processors of their own devices alone, later ones have one worker
// with all processors but the home.
inline int OfAWorker(uint32_t seed, uint32_t plain, int processors) {
  return seed > plain ? processors - 1 : 0;
}

// Returns the pool, of every fourth seed with processors that lack some layers.
inline PoolCosts WithLacks(PoolCosts pool, uint32_t seed) {
  std::mt19937 random(seed);
  for (size_t d = 1; d < pool.processors.size() && seed % 4 == 0; ++d)
    for (LayerCost& layer : pool.processors[d].layers)
      if (random() % 3 == 0) layer = {.why_not = "no kernel"};
  return pool;
}

// Returns the pool with its last two processors as one piece of hardware, each as fast with another half of
// the layers.
inline PoolCosts WithOneUnit(PoolCosts pool) {
  ProcessorCosts &a = pool.processors[pool.processors.size() - 2], &b = pool.processors.back();
  a.unit = b.unit = "here/gpu:0";
  b.power = a.power;
  b.link = a.link;
  b.co_run = a.co_run;
  return pool;
}

// Checks that no group has parts on two processors of the same hardware.
inline void ExpectOneOfAUnit(const Plan& plan, const PoolCosts& pool) {
  for (const PlannedGroup& group : plan.groups)
    EXPECT_TRUE(CanShareGroup(pool, group.placement.processors))
        << plan.planner << " " << ToText(group.placement, NamesOf(pool));
}

// Checks that no processor computes a layer that it cannot.
inline void ExpectNoLackedLayers(const Plan& plan, const PoolCosts& pool) {
  EXPECT_TRUE(std::isfinite(plan.predicted_us)) << plan.planner;
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares)
      EXPECT_TRUE(std::isfinite(share.compute_us))
          << plan.planner << ": " << pool.processors[size_t(share.processor)].name << " lacks a layer of "
          << group.first << " to " << group.last;
}

// Returns the number of pieces that a plan hands over in the memory of a worker.
inline int CountInMemory(const Graph& graph, const Plan& plan, const PoolCosts& pool) {
  int count = 0;
  PlanExchanges exchanges(graph, plan, pool);
  for (size_t at = 0; at < exchanges.count(); ++at)
    for (const Transfer& t : exchanges.At(at).All()) count += exchanges.At(at).KindOf(t) == LinkKind::kMemory;
  return count;
}

// Computes the same costs as the planner in another way: the parts from PartsOf(), the segmentations one by
// one.
struct ExhaustiveOptions {
  bool branches = true;  // as in DynamicOptions
  // Instead of the planner's candidates (BranchPlacements) each way to give the live values of a boundary to
  // processors is tried; only Us() may be called then.
  bool all_owners = false;
};

class Exhaustive {
 public:
  Exhaustive(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements,
             const ExhaustiveOptions& options = {})
      : graph_(graph),
        pool_(pool),
        layers_(LayersOf(graph)),
        live_(LiveValues(graph, layers_)),
        only_us_(options.all_owners),
        us_with_(pool.processors.size(), least_us_) {
    PoolModel model(graph, pool);
    for (int b = 0; b <= model.boundaries(); ++b) {
      placements_.push_back(model.IsBeforeJoin(b) ? std::vector<Placement>() : placements);
      if (!options.branches) continue;
      const std::vector<Placement> side_by_side =
          options.all_owners ? AllOwners(live_[size_t(b)].size(), pool.processors.size())
                             : BranchPlacements(model, b);
      placements_.back().insert(placements_.back().end(), side_by_side.begin(), side_by_side.end());
    }
  }

  double Us() {
    Rest(0, placements_[0][0], {});
    return least_us_;
  }
  // the time of the best plan in which `processor` has a part; must be called after Us()
  double UsWith(int processor) const { return us_with_[size_t(processor)]; }
  double Joules() {  // the least joules, as in JoulesOf()
    Us();
    return least_joules_;
  }

 private:
  std::vector<PlacedPart> Holders(const Placement& placement, int boundary, ValueId id) const {
    const std::vector<ValueId>& live = live_[size_t(boundary)];
    const auto index = size_t(std::find(live.begin(), live.end(), id) - live.begin());
    return PartsOn(placement, graph_.value(id).shape, index);
  }
  std::optional<Part> Held(const Placement& placement, int boundary, int processor, ValueId id) const {
    for (const PlacedPart& held : Holders(placement, boundary, id))
      if (held.processor == processor) return held.part;
    return std::nullopt;
  }

  struct Cost {
    double us = 0, joules = 0;  // time and energy of computing and sending
    uint32_t with = 0;          // a bit per processor that has a part
  };

  void Rest(int begin, const Placement& from, Cost cost) {
    if (only_us_ && cost.us >= least_us_) return;
    if (begin == int(layers_.size())) return End(from, cost);
    for (int end = begin + 1; end <= int(layers_.size()); ++end)
      for (const Placement& placement : placements_[size_t(end)])
        if (const std::optional<Cost> with = With(cost, begin, end, placement, from))
          Rest(end, placement, *with);
  }

  void End(const Placement& from, Cost cost) {
    Exchange exchange(pool_);
    for (ValueId id : live_.back())
      exchange.Need(0, graph_.value(id), Part::All(), Holders(from, int(layers_.size()), id));
    cost.us += exchange.ReadyUs(0);
    cost.joules += JoulesToSend(exchange, pool_);
    least_us_ = std::min(least_us_, cost.us);
    for (size_t d = 0; d < pool_.processors.size(); ++d)
      if (cost.with >> d & 1) us_with_[d] = std::min(us_with_[d], cost.us);
    std::map<std::string, double> idle_w;  // by hardware, whose processors have the same
    for (size_t d = 0; d < pool_.processors.size(); ++d)
      if (const ProcessorCosts& p = pool_.processors[d]; d == 0 || cost.with >> d & 1)
        idle_w[p.unit.empty() ? "of " + p.name : p.unit] = p.power->idle_w;
    for (const auto& [unit, watts] : idle_w) cost.joules += watts * cost.us * 1e-6;
    least_joules_ = std::min(least_joules_, cost.joules);
  }

  // Returns nothing for a group that is no candidate: branches are not side by side if only one processor
  // computes, and no processor computes a layer that it lacks.
  std::optional<Cost> With(Cost cost, int begin, int end, const Placement& placement,
                           const Placement& from) const {
    if (HasOneUnitTwice(placement.processors)) return std::nullopt;
    std::vector<int> nodes;
    for (int n = layers_[size_t(begin)].begin; n < layers_[size_t(end) - 1].end; ++n) nodes.push_back(n);
    Exchange exchange(pool_);
    std::vector<double> compute;
    int computing = 0;
    for (int processor : placement.processors) {
      std::map<ValueId, Part> needs;
      std::vector<ValuePart> wanted;
      for (ValueId id : live_[size_t(end)]) {
        const auto part = Held(placement, end, processor, id);
        if (!part) continue;
        cost.with |= 1u << processor;
        const auto& old = live_[size_t(begin)];
        if (std::count(old.begin(), old.end(), id)) needs[id] = *part;
        else wanted.push_back({id, *part});
      }
      const ShareParts parts = PartsOf(graph_, nodes, wanted);
      computing += !parts.nodes.empty();
      for (const ValuePart& input : parts.inputs) {
        const auto known = needs.find(input.value);
        const Part hull = known == needs.end() ? input.part : Hull(known->second, input.part);
        needs[input.value] = Normalized(hull, graph_.value(input.value).shape);
      }
      for (const auto& [id, part] : needs)
        exchange.Need(processor, graph_.value(id), part, Holders(from, begin, id));
      compute.push_back(ComputeUs(parts, begin, end, processor));
    }
    for (const double us : compute)
      if (std::isinf(us)) return std::nullopt;  // a processor lacks a layer
    SlowTogether(pool_, placement.processors, compute);
    for (size_t k = 0; k < compute.size(); ++k)
      cost.joules += pool_.processors[size_t(placement.processors[k])].power->compute_w * compute[k] * 1e-6;
    if (placement.split == SplitAxis::kBranches && computing < 2) return std::nullopt;
    double us = 0;
    for (size_t k = 0; k < compute.size(); ++k)
      us = std::max(us, exchange.ReadyUs(placement.processors[k]) + compute[k]);
    cost.us += us;
    cost.joules += JoulesToSend(exchange, pool_);
    return cost;
  }

  bool HasOneUnitTwice(const std::vector<int>& processors) const {
    std::map<std::string, int> count;
    for (const int d : processors)
      if (const std::string& unit = pool_.processors[size_t(d)].unit; !unit.empty() && ++count[unit] > 1)
        return true;
    return false;
  }

  double ComputeUs(const ShareParts& parts, int begin, int end, int processor) const {
    double us = 0;
    for (int l = begin; l < end; ++l) {
      double anchor = -1, most = -1;
      bool by_channels = false;
      for (size_t k = 0; k < parts.nodes.size(); ++k) {
        const int n = parts.nodes[k];
        if (n < layers_[size_t(l)].begin || n >= layers_[size_t(l)].end) continue;
        const Part& part = parts.computed[k];
        const Shape& shape = graph_.value(graph_.nodes[size_t(n)].outputs[0]).shape;
        const double fraction = part.all() ? 1 : double(part.rows.size()) / double(shape[part.axis]);
        const bool is_anchor = n == layers_[size_t(l)].anchor;
        if (is_anchor || (anchor < 0 && fraction >= most))
          by_channels = !part.all() && part.axis == AxisOf(SplitAxis::kChannels, shape);
        most = std::max(most, fraction);
        if (is_anchor) anchor = fraction;
      }
      if (most < 0) continue;
      if (us == 0) us = pool_.processors[size_t(processor)].share_us;
      const LayerCost& cost = pool_.processors[size_t(processor)].layers[size_t(l)];
      if (!cost.can()) return std::numeric_limits<double>::infinity();
      const double least_us = by_channels ? cost.least_by_channels_us.value_or(cost.least_us) : cost.least_us;
      us += least_us + (cost.us - least_us) * (anchor < 0 ? most : anchor);
    }
    return us;
  }

  const Graph& graph_;
  const PoolCosts& pool_;
  const std::vector<Layer> layers_;
  const std::vector<std::vector<ValueId>> live_;
  const bool only_us_;
  std::vector<std::vector<Placement>> placements_;  // by boundary
  double least_us_ = std::numeric_limits<double>::infinity(), least_joules_ = least_us_;
  std::vector<double> us_with_;  // by processor
};

}  // namespace mete
