// What a model's layers take on devices that are there, and what the links to them do: measured, kept as
// costs. Single layers only, as Legion has it (systems.md, 3): what groups of them would take is the
// planner's to say.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "mete/engine.h"
#include "network/remote/remote_device.h"

namespace mete {

// Of a message of so many bytes whose answer has one byte, and of one the other way round; medians.
struct MessageTimes {
  int64_t bytes = 0;
  double up_us = 0, down_us = 0;            // to it, from it
  double busy_up_us = 0, busy_down_us = 0;  // while both ends compute
};

struct LinkProfile {
  double round_trip_us = 0;                       // of a message of one byte and its answer
  double message_us = 0;                          // that each message takes of those that follow each other
  double up_mbit_per_s = 0, down_mbit_per_s = 0;  // from the caller, to it
  double busy_up_mbit_per_s = 0, busy_down_mbit_per_s = 0;  // while both ends compute
  std::vector<MessageTimes> sizes;                          // what the rates follow from
};

struct PoolProfile {
  std::string model;               // the graph's name
  std::string digest;              // of the graph that was measured: what is divided
  std::vector<LinkProfile> links;  // by device; of the caller's own nothing
  PoolCosts costs;
  double seconds = 0;  // that measuring took
  // of which the device that was the last to be ready made graphs ready; kernels are chosen once
  double prepare_seconds = 0;
};

// What a profile is valid for: of the graph, its names, attributes and shapes, not the weights.
std::string DigestOfGraph(const Graph& graph);

struct PoolProfileOptions {
  SessionOptions session = SessionOptions::Estimated();        // of this device
  std::function<void(const std::string&, int, int)> progress;  // what is measured, how much of it is done
  const CancelToken* cancel = nullptr;
};

// `graph` as it is before the pass `layout`. `remotes`: by device, the first, the caller's own, null.
// `names`: of all. Error where a device does not answer.
PoolProfile ProfilePool(const Graph& graph, const std::vector<std::string>& names,
                        const std::vector<RemoteDevice*>& remotes, const PoolProfileOptions& options);

// The links alone, one after the other, as ProfilePool() has them.
std::vector<LinkProfile> ProfileLinks(const std::vector<RemoteDevice*>& remotes,
                                      const PoolProfileOptions& options);

LinkProfile ProfileLink(RemoteDevice& remote);
// what it does while both ends compute
void ProfileBusyLink(RemoteDevice& remote, const SessionOptions& session, LinkProfile& link);

std::string ToJson(const LinkProfile& link);
std::string ToJson(const PoolProfile& profile);
// Error where it is none, or contradicts itself
PoolProfile PoolProfileFromJson(std::string_view text, const std::string& where);

}  // namespace mete
