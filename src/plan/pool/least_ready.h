// Lower bounds of the time that processors wait before a group, for one boundary. They take a fraction of the
// time of the exact computation (exchange.h).
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "plan/pool/exchange.h"
#include "plan/pool/share_needs.h"

namespace mete {

// The parts of the live values that each processor of the pool has at a boundary. ShareNeeds owns the parts.
using HeldByProcessor = std::vector<const LiveParts*>;

class LeastReady {
 public:
  // Keeps references.
  LeastReady(const Graph& graph, const PoolCosts& pool, const std::vector<ValueId>& live);

  // Adds a way in which the live values may lie; ways are numbered from 0. All ways must be added before any
  // other function is called.
  void Add(HeldByProcessor held);
  const HeldByProcessor& Holds(size_t way) const { return held_[way]; }

  // Lower bounds of the time until a processor has the parts that it needs, whichever processors send them.
  struct Table {
    std::vector<double> us;      // by the parts that the processor has itself (OwnOf)
    std::vector<int64_t> bytes;  // bytes that are sent to the processor, in the same order
    double least_us = 0;         // the minimum of `us`
  };
  const Table& Of(const LiveParts& need, int processor);  // the reference stays valid
  // Returns a lower bound of the time in which all processors that have parts in `way` can send `bytes` bytes
  // together, when all their links send for the same time.
  double LeastSentUs(size_t way, int64_t bytes) const {
    return senders_[way].latency_us + TransferUs(bytes, senders_[way].up_mbit_per_s);
  }
  // Returns the index into `us` and `bytes` of the processor's tables for `way`.
  size_t OwnOf(size_t way, int processor) const {
    return own_[way * pool_.processors.size() + size_t(processor)];
  }

 private:
  const Graph& graph_;
  const PoolCosts& pool_;
  const std::vector<ValueId>& live_;
  struct Senders {
    double latency_us = 0;     // the smallest latency
    double up_mbit_per_s = 0;  // the sum of the rates
  };
  std::vector<HeldByProcessor> held_;
  std::vector<Senders> senders_;                     // by way
  std::vector<std::vector<const LiveParts*>> owns_;  // by processor: the different parts that it may have
  std::vector<uint32_t> own_;                        // by way and processor
  std::unordered_map<uint64_t, Table> tables_;       // by need and processor
};

}  // namespace mete
