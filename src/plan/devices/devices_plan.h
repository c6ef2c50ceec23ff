// A plan for several devices: groups of fused layers, each divided over some of the devices. A value.
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

// What one device does in a group.
struct DeviceShare {
  int device = 0;
  std::vector<ValuePart> inputs;  // that it needs; where it does not have them they are sent to it
  // that it has when the group is done: it computes them, or keeps or gets them if they are older
  std::vector<ValuePart> outputs;
  int64_t bytes = 0;      // that are sent to it
  double ready_us = 0;    // predicted: until it has its inputs
  double compute_us = 0;  // predicted
};

struct PlannedGroup {
  int first = 0, last = 0;  // layers [first, last); none where values only move
  Placement placement;      // how what is live behind it lies
  std::vector<DeviceShare> shares;
  double us = 0;  // until the last device is done
};

struct DevicesPlan {
  std::string model, planner;
  std::vector<std::string> devices;
  std::vector<std::string> layers;
  std::vector<PlannedGroup> groups;  // cover the layers once, in order
  double gather_us = 0;              // until the caller has the outputs, when the last group is done
  double predicted_us = 0;           // all of it
  // predicted: from one request to the next, where they follow each other (objective.h)
  double period_us = 0;
  double joules = 0;  // predicted, of a request; 0 where there are no power figures
};

// Those that have a share of a group.
std::set<int> UsedDevices(const DevicesPlan& plan);

// Fills in what the plan is of: all but groups and what they take.
void NamePlan(DevicesPlan& plan, const Graph& graph, const PoolCosts& pool, const std::string& planner);

}  // namespace mete
