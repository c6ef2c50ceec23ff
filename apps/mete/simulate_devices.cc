#include "simulate_devices.h"

#include <fmt/format.h>

#include <numeric>
#include <set>

#include "machine/devices_file.h"
#include "plan/devices/named.h"
#include "processor/simulated/devices/estimate_pool.h"
#include "processor/simulated/devices/simulate_devices.h"
#include "terminal.h"

namespace mete::cli {
namespace {

struct Outcome {
  std::string planner;
  DevicesPlan plan;
  DevicesSimulation simulation;
  int measured = 0;  // plans that the planner had simulated, where it asks for that
};

std::vector<Outcome> Simulate(const Graph& graph, const PoolCosts& pool, const std::string& planner) {
  Progress progress("simulating");
  const auto measure = [&](const DevicesPlan& plan) { return SimulateDevices(graph, plan, pool).us; };
  const std::vector<std::string> names = planner == "all" ? DevicePlanners() : std::vector{planner};
  std::vector<Outcome> outcomes;
  for (const std::string& name : names) {
    progress.Update(int(outcomes.size()), int(names.size()));
    Outcome outcome{name, {}, {}};
    outcome.plan = PlanDevicesBy(name, graph, pool, measure, &outcome.measured);
    outcome.simulation = SimulateDevices(graph, outcome.plan, pool);
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

double AloneUs(const Graph& graph, const PoolCosts& pool) { return PlanDevicesBy("alone", graph, pool, {}).predicted_us; }

size_t DevicesOf(const DevicesPlan& plan) {
  std::set<int> devices;
  for (const PlannedGroup& group : plan.groups)
    for (const DeviceShare& share : group.shares)
      if (share.compute_us > 0) devices.insert(share.device);
  return devices.size();
}

int64_t SentBytes(const DevicesSimulation& simulation) {
  return std::accumulate(simulation.devices.begin(), simulation.devices.end(), int64_t(0),
                         [](int64_t sum, const SimulatedDevice& d) { return sum + d.sent_bytes; });
}

int Groups(const DevicesPlan& plan) {
  int groups = 0;
  for (const PlannedGroup& group : plan.groups) groups += group.first < group.last;
  return groups;
}

void Print(const std::vector<Outcome>& outcomes, const std::string& model, const std::string& pool, double alone_us) {
  const Style style = StyleOf(1);
  fmt::print("{}{}{} on simulated devices: {}\n", style.bold, model, style.reset, pool);
  Rows rows{{"planner", "simulated", "speed-up", "predicted", "devices", "groups", "sent", "measured"}};
  for (const Outcome& o : outcomes)
    rows.push_back({o.planner, FormatMs(o.simulation.us * 1e-3), fmt::format("{:.2f}x", alone_us / o.simulation.us),
                    FormatMs(o.plan.predicted_us * 1e-3), std::to_string(DevicesOf(o.plan)), std::to_string(Groups(o.plan)),
                    FormatBytes(SentBytes(o.simulation)), o.measured > 0 ? std::to_string(o.measured) : "-"});
  fmt::print("{}\n", FormatTable(rows, "lrrrrrrr", "  "));
  fmt::print("speed-up: beside the best single device, {}. devices: that compute. measured: plans that the planner had to try.\n"
             "Nothing here was measured. Estimates: the time of every layer on each device, a roofline of its machine file's figures; and\n"
             "the links' figures, as the devices file says.\n",
             FormatMs(alone_us * 1e-3));
}

Json OutcomeJson(const Outcome& o, double alone_us) {
  Json json{{"planner", o.planner},
            {"simulated_us", o.simulation.us},
            {"predicted_us", o.plan.predicted_us},
            {"speed_up", alone_us / o.simulation.us},
            {"groups", Groups(o.plan)},
            {"computing_devices", DevicesOf(o.plan)},
            {"measured", o.measured},
            {"devices", Json::array()}};
  for (const SimulatedDevice& d : o.simulation.devices)
    json["devices"].push_back({{"name", d.name}, {"busy_us", d.busy_us}, {"sent_bytes", d.sent_bytes},
                               {"received_bytes", d.received_bytes}, {"messages", d.messages}});
  return json;
}

}  // namespace

void SimulateOverDevices(const Graph& graph, const std::string& model, const std::string& devices, const std::string& planner,
                         const Context& context) {
  const DevicesFile file = ReadDevicesFile(devices);
  const PoolCosts pool = EstimatePool(graph, file);
  const double alone_us = AloneUs(graph, pool);
  const std::vector<Outcome> outcomes = Simulate(graph, pool, planner);
  if (!context.json) return Print(outcomes, model, file.name, alone_us);
  Json json{{"model", model}, {"devices", file.name}, {"alone_us", alone_us}, {"planners", Json::array()},
            {"estimates", "all times of layers, and the links' figures"}};
  for (const Outcome& o : outcomes) json["planners"].push_back(OutcomeJson(o, alone_us));
  PrintJson(json);
}

}  // namespace mete::cli
