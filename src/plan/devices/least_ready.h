// Bounds on what devices wait for before a group, for one boundary: no more than what they do wait, and found
// in a fraction of the time.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "plan/devices/exchange.h"
#include "plan/devices/share_needs.h"

namespace mete {

// How what is live at a boundary lies: what each of the pool's devices has of it, kept by ShareNeeds.
using HeldByDevice = std::vector<const LiveParts*>;

class LeastReady {
 public:
  // Keeps references.
  LeastReady(const Graph& graph, const PoolCosts& pool, const std::vector<ValueId>& live);

  void Add(HeldByDevice held);  // one of the ways in which it may lie; numbered from 0. Before all questions
  const HeldByDevice& Holds(size_t way) const { return held_[way]; }

  // Until a device has what it needs, at the least, from whomever.
  struct Table {
    std::vector<double> us;      // by what it has itself
    std::vector<int64_t> bytes;  // that are sent to it, likewise
    double least_us = 0;         // of `us`
  };
  const Table& Of(const LiveParts& need, int device);  // stays valid
  // Until the last of those that have something has sent so many bytes in all: as soon as can be if all links
  // are busy for as long.
  double LeastSentUs(size_t way, int64_t bytes) const {
    return senders_[way].latency_us + TransferUs(bytes, senders_[way].up_mbit_per_s);
  }
  // Index into `us` and `bytes` of the device's tables.
  size_t OwnOf(size_t way, int device) const { return own_[way * pool_.devices.size() + size_t(device)]; }

 private:
  const Graph& graph_;
  const PoolCosts& pool_;
  const std::vector<ValueId>& live_;
  struct Senders {
    double latency_us = 0;     // the least
    double up_mbit_per_s = 0;  // of all together
  };
  std::vector<HeldByDevice> held_;
  std::vector<Senders> senders_;                     // by way
  std::vector<std::vector<const LiveParts*>> owns_;  // by device: the different things that it may have
  std::vector<uint32_t> own_;                        // by way and device
  std::unordered_map<uint64_t, Table> tables_;       // by need and device
};

}  // namespace mete
