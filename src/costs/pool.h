// What a model's layers take on several devices, and what the links between them do: a value, whatever its
// source. Layers are those of partition/layers.h, each measured or estimated alone, unfused, as Legion's
// predictor has it (systems.md, 3).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mete {

// Of a device to the network that all share. Devices send and receive at the same time, and others' traffic
// does not slow theirs.
struct LinkCosts {
  double latency_us = 0;  // until a message that is sent begins to arrive
  double message_us = 0;  // of each message, whatever its size: what sender and receiver do for it
  double up_mbit_per_s = 0, down_mbit_per_s = 0;

  bool operator==(const LinkCosts&) const = default;
};

struct LayerCost {
  double us = 0;        // all of it, on this device alone
  double least_us = 0;  // however few of its rows are computed; not more than `us`

  bool operator==(const LayerCost&) const = default;
};

// What a device takes from its battery or socket.
struct PowerCosts {
  double idle_w = 0;                                              // on, and without work
  double compute_w = 0;                                           // more than that, while it computes
  double sent_joules_per_byte = 0, received_joules_per_byte = 0;  // of its link, more than idle_w

  bool operator==(const PowerCosts&) const = default;
};

struct DeviceCosts {
  std::string name;
  LinkCosts link;
  std::vector<LayerCost> layers;
  std::optional<PowerCosts> power = {};  // where it is known; plans for the least energy need it
};

struct PoolCosts {
  std::vector<DeviceCosts> devices;  // the first is the caller's own: it has the inputs, and gets the outputs
};

// Error listing what contradicts itself: no devices, two of a name, lists that are not a figure a layer,
// times, rates, watts or joules that are negative or not finite, a rate of 0.
void Verify(const PoolCosts& costs, size_t layers);

}  // namespace mete
