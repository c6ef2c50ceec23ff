// Simulates a plan for several processors in virtual time: messages wait for each other on their links, and
// each processor continues as soon as it has its inputs, without waiting for others. The result is therefore
// mostly less than the plan's prediction, by which all wait for the slowest processor at the end of each
// group. Serial equivalent:
//
//     for each request, for each group, for each processor of its placement: wait for what the processors of the
//     group before send of its inputs,
//     then compute
//     in the end, the processors that have outputs send them to the caller
//
// Processors of one memory (CoRun, costs/pool.h) slow each other also while they compute different groups or
// requests; what the shares of one group do to each other is in the plan's times.
//
// A processor sends when it has computed; computing, sending and receiving go on at the same time. Requests
// that follow each other are all there from the beginning; a processor with work for several requests
// computes the oldest first.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "plan/plan.h"

namespace mete {

struct SimulatedProcessor {
  std::string name;
  double busy_us = 0;  // computing
  int64_t sent_bytes = 0, received_bytes = 0;
  int messages = 0;  // received
};

// A time in which a processor, or one direction of one of its links, does one thing.
struct SimulatedSpan {
  enum Kind { kCompute, kSend, kReceive };
  Kind kind = kCompute;
  int processor = 0;
  int other = 0;  // of a message: its receiver, or its sender
  int request = 0;
  size_t group = 0;  // the group of the plan that it is for; the number of groups stands for the outputs
  int64_t bytes = 0;
  double begin_us = 0, end_us = 0;
  LinkKind link = LinkKind::kNetwork;  // of a message
};

struct PoolSimulation {
  double us = 0;  // until the caller has the outputs of all requests
  int requests = 1;
  std::vector<SimulatedProcessor> processors;  // of all requests together
  std::vector<SimulatedSpan> spans;            // in the order of requests and groups

  // Returns the time of all requests divided by their number. This includes the time that the first request
  // takes through all processors, so that the result approaches the plan's period from above.
  double period_us() const { return us / requests; }
};

// Simulates `requests` requests, each right behind the one before, with nothing else on the network. The plan
// is one of PlanPool() for this graph and pool, or one like it.
PoolSimulation SimulatePool(const Graph& graph, const Plan& plan, const PoolCosts& pool, int requests = 1);

// Simulates requests that several plans of the same kind compute in turn: each request by the plan that would
// be done with it first, if plans had processors of their own and took as long as they predict.
PoolSimulation SimulatePool(const Graph& graph, std::span<const Plan> in_turn, const PoolCosts& pool,
                            int requests);

// Returns a timeline for chrome://tracing and Perfetto (base/timeline.h). Each processor computes, sends and
// receives in lanes of its own. Arrows go from a sent message to where it is received, and from there to the
// work that waited for it. A processor with watts has a counter of its power, without what its links take.
std::string ChromeJson(const PoolSimulation& simulation, const Plan& plan, const PoolCosts& pool);

}  // namespace mete
