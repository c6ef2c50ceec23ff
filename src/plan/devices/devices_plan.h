// A plan for several devices, as a value: groups of fused layers, each divided over some of the devices.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "partition/layers.h"
#include "partition/share.h"
#include "plan/devices/placement.h"

namespace mete {

// The share of one device in a group.
struct DeviceShare {
  int device = 0;
  std::vector<ValuePart> inputs;  // the parts that the device needs; parts that it lacks are sent to it
  // the parts that the device has after the group: it computes them, or, if they are older, keeps or gets
  // them
  std::vector<ValuePart> outputs;
  int64_t bytes = 0;      // bytes that are sent to the device
  double ready_us = 0;    // predicted time until the device has its inputs
  double compute_us = 0;  // predicted time of computing
};

struct PlannedGroup {
  int first = 0, last = 0;  // layers [first, last); no layer if values only move
  Placement placement;      // placement of the values that are live after the group
  std::vector<DeviceShare> shares;
  double us = 0;  // time until the last device is done
};

struct DevicesPlan {
  std::string model, planner;
  std::vector<std::string> devices;
  std::vector<std::string> layers;
  std::vector<PlannedGroup> groups;  // the groups cover each layer once, in order
  double gather_us = 0;              // from the end of the last group until the caller has the outputs
  double predicted_us = 0;           // predicted time of a request
  // predicted time from one request to the next if requests follow each other without a pause (objective.h)
  double period_us = 0;
  double joules = 0;  // predicted energy of a request; 0 without power figures
};

// Returns the devices that have a share in some group.
std::set<int> UsedDevices(const DevicesPlan& plan);

// Fills in the names in the plan: model, planner, devices and layers.
void NamePlan(DevicesPlan& plan, const Graph& graph, const PoolCosts& pool, const std::string& planner);

}  // namespace mete
