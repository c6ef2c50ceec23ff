#include "plan/devices/dynamic.h"

#include <algorithm>
#include <limits>

#include "base/errors_testing.h"
#include "partition/random_graphs_testing.h"
#include "plan/devices/group_costs.h"

namespace mete {
namespace {

PoolCosts RandomPool(RandomGraph& random, const Graph& graph, int devices) {
  PoolCosts pool;
  for (int d = 0; d < devices; ++d) {
    DeviceCosts device{std::string(1, char('a' + d)), {}, {}};
    device.link = {double(random.Pick(0, 20)), double(random.Pick(0, 10)), double(random.Pick(50, 4000)), double(random.Pick(50, 4000))};
    for (size_t l = 0; l < LayersOf(graph).size(); ++l) {
      const double us = double(random.Pick(1, 300));
      device.layers.push_back({us, us * 0.1 * double(random.Pick(0, 3))});
    }
    pool.devices.push_back(std::move(device));
  }
  return pool;
}

// The same costs by another way: parts from PartsOf(), the segmentations one by one.
class Exhaustive {
 public:
  Exhaustive(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements)
      : graph_(graph), pool_(pool), placements_(placements), layers_(LayersOf(graph)), live_(LiveValues(graph, layers_)) {}

  double Us() const { return Rest(0, placements_[0]); }

 private:
  std::optional<Part> Held(const Placement& placement, int device, ValueId id) const {
    for (const DevicePart& held : PartsOn(placement, graph_.value(id).shape))
      if (held.device == device) return held.part;
    return std::nullopt;
  }

  double Rest(int begin, const Placement& from) const {
    if (begin == int(layers_.size())) {
      Exchange exchange(pool_);
      for (ValueId id : live_.back()) exchange.Need(0, graph_.value(id), Part::All(), PartsOn(from, graph_.value(id).shape));
      return exchange.ReadyUs(0);
    }
    double least = std::numeric_limits<double>::infinity();
    for (int end = begin + 1; end <= int(layers_.size()); ++end)
      for (const Placement& placement : placements_) least = std::min(least, GroupUs(begin, end, placement, from) + Rest(end, placement));
    return least;
  }

  double GroupUs(int begin, int end, const Placement& placement, const Placement& from) const {
    std::vector<int> nodes;
    for (int n = layers_[size_t(begin)].begin; n < layers_[size_t(end) - 1].end; ++n) nodes.push_back(n);
    Exchange exchange(pool_);
    std::vector<double> compute;
    for (int device : placement.devices) {
      std::map<ValueId, Part> needs;
      std::vector<ValuePart> wanted;
      for (ValueId id : live_[size_t(end)]) {
        const auto part = Held(placement, device, id);
        if (!part) continue;
        const auto& old = live_[size_t(begin)];
        if (std::count(old.begin(), old.end(), id)) needs[id] = *part;
        else wanted.push_back({id, *part});
      }
      const ShareParts parts = PartsOf(graph_, nodes, wanted);
      for (const ValuePart& input : parts.inputs) {
        const auto known = needs.find(input.value);
        const Part hull = known == needs.end() ? input.part : Hull(known->second, input.part);
        needs[input.value] = Normalized(hull, graph_.value(input.value).shape);
      }
      for (const auto& [id, part] : needs) exchange.Need(device, graph_.value(id), part, PartsOn(from, graph_.value(id).shape));
      compute.push_back(ComputeUs(parts, begin, end, device));
    }
    double us = 0;
    for (size_t k = 0; k < compute.size(); ++k) us = std::max(us, exchange.ReadyUs(placement.devices[k]) + compute[k]);
    return us;
  }

  double ComputeUs(const ShareParts& parts, int begin, int end, int device) const {
    double us = 0;
    for (int l = begin; l < end; ++l) {
      double anchor = -1, most = -1;
      for (size_t k = 0; k < parts.nodes.size(); ++k) {
        const int n = parts.nodes[k];
        if (n < layers_[size_t(l)].begin || n >= layers_[size_t(l)].end) continue;
        const Part& part = parts.computed[k];
        const Shape& shape = graph_.value(graph_.nodes[size_t(n)].outputs[0]).shape;
        const double fraction = part.all() ? 1 : double(part.rows.size()) / double(shape[part.axis]);
        most = std::max(most, fraction);
        if (n == layers_[size_t(l)].anchor) anchor = fraction;
      }
      if (most < 0) continue;
      const LayerCost& cost = pool_.devices[size_t(device)].layers[size_t(l)];
      us += cost.least_us + (cost.us - cost.least_us) * (anchor < 0 ? most : anchor);
    }
    return us;
  }

  const Graph& graph_;
  const PoolCosts& pool_;
  const std::vector<Placement>& placements_;
  const std::vector<Layer> layers_;
  const std::vector<std::vector<ValueId>> live_;
};

TEST(PlanDevices, IsAsGoodAsTheBestOfAllPlans) {
  int divided = 0;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 8) + 1);
    if (LayersOf(random.graph).size() > 5) continue;
    const PoolCosts pool = RandomPool(random, random.graph, int(random.Pick(1, 3)));
    std::vector<Placement> placements = PlacementsOf(pool);
    std::shuffle(placements.begin() + 1, placements.end(), std::mt19937(seed));
    if (placements.size() > 5) placements.resize(5);
    const DevicesPlan plan = PlanDevices(random.graph, pool, placements);
    EXPECT_NEAR(plan.predicted_us, Exhaustive(random.graph, pool, placements).Us(), 1e-6 * plan.predicted_us) << ToText(random.graph);
    for (const PlannedGroup& group : plan.groups) divided += group.shares.size() > 1;
  }
  EXPECT_GT(divided, 10);
}

TEST(PlanDevices, WithADeviceIsNoSoonerThanWithoutAndAsSoonWhereItHasAPart) {
  int left_out = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, 8);
    PoolCosts pool = RandomPool(random, random.graph, 3);
    const std::vector<Placement> placements = PlacementsOf(pool);
    const DevicesPlan plan = PlanDevices(random.graph, pool, placements);
    for (int device = 0; device < 3; ++device) {
      bool has_part = false;
      for (const PlannedGroup& group : plan.groups)
        for (const DeviceShare& share : group.shares) has_part |= share.device == device;
      const double us = UsWithDevice(random.graph, pool, placements, device);
      if (has_part) EXPECT_NEAR(us, plan.predicted_us, 1e-6 * us);
      else EXPECT_GE(us, plan.predicted_us);
      left_out += !has_part;
    }
  }
  EXPECT_GT(left_out, 10);
}

TEST(PlanDevices, ADeviceThatHarmsIsLeftOut) {
  Builder b;
  b.Output(b.Conv(b.Conv(b.Input({1, 8, 32, 32}), 8, 8, 3, {1, 1, 1, 1}), 8, 8, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  const LinkCosts slow{500, 100, 10, 10}, fast{1, 1, 10000, 10000};
  PoolCosts pool{{{"caller", slow, {{1000, 0}, {1000, 0}}}, {"other", slow, {{1000, 0}, {1000, 0}}}}};
  const DevicesPlan alone = PlanDevices(b.graph, pool);
  EXPECT_EQ(alone.groups.size(), 1u);
  EXPECT_DOUBLE_EQ(alone.predicted_us, 2000);
  pool.devices[0].link = pool.devices[1].link = fast;
  EXPECT_LT(PlanDevices(b.graph, pool).predicted_us, 1300);
}

// Of seven devices the fastest hangs on a slow link, and one that is nearly as fast on a fast one.
TEST(PlanDevices, IsNotSlowerThanAnySingleDeviceOfMany) {
  Builder b;
  b.Output(b.Conv(b.Conv(b.Input({1, 8, 64, 64}), 8, 8, 3, {1, 1, 1, 1}), 8, 8, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  PoolCosts pool;
  for (int d = 0; d < 7; ++d) {
    const double us = d == 1 ? 100'000 : d == 2 ? 110'000 : 1e6, mbit_per_s = d == 1 ? 1 : 1000;
    pool.devices.push_back({std::string(1, char('a' + d)), {1, 1, mbit_per_s, mbit_per_s}, {{us, us}, {us, us}}});
  }
  const DevicesPlan plan = PlanDevices(b.graph, pool);
  for (int d = 0; d < 7; ++d) EXPECT_LE(plan.predicted_us, PlanAlone(b.graph, pool, d).predicted_us * 1.000001) << d;
}

TEST(PlanDevices, RefusesCostsThatDoNotFit) {
  Builder b;
  b.Output(b.Conv(b.Input({1, 8, 8, 8}), 8, 8, 3));
  InferShapes(b.graph);
  EXPECT_TELLS(PlanDevices(b.graph, PoolCosts{}), "there are none");
  EXPECT_TELLS(PlanDevices(b.graph, PoolCosts{{{"a", {1, 1, 1, 1}, {}}}}), "[a] has other layers; got 0, expected 1");
}

}  // namespace
}  // namespace mete
