// A plan for several processors in virtual time: messages wait for each other on their links, and each
// processor goes on as soon as it has what it needs, without waiting for others. So it mostly takes less than
// the plan predicts, where all wait for the slowest at each group's end. Serial equivalent:
//
//     for each request, for each group, for each processor of its placement: wait for what the processors of the
//     group before send of its inputs,
//     then compute
//     in the end, the processors that have outputs send them to the caller
//
// A processor sends when it has computed; what it computes, what it sends and what it gets go on at the same
// time. Requests that follow each other are all there from the beginning; a processor with work for several
// requests does that of the oldest.
#pragma once

#include <cstdint>
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

// What a processor, or one direction of one of its links, does for a while.
struct SimulatedSpan {
  enum Kind { kCompute, kSend, kReceive };
  Kind kind = kCompute;
  int processor = 0;
  int other = 0;  // of a message: its receiver, or its sender
  int request = 0;
  size_t group = 0;  // of the plan, that it is for; as many as it has: the outputs
  int64_t bytes = 0;
  double begin_us = 0, end_us = 0;
  LinkKind link = LinkKind::kNetwork;  // of a message
};

struct PoolSimulation {
  double us = 0;  // until the caller has the outputs of all requests
  int requests = 1;
  std::vector<SimulatedProcessor> processors;  // of all requests together
  std::vector<SimulatedSpan> spans;            // in the order of requests and groups

  // From one request to the next, with the first one's way through all processors shared out: it tends to the
  // plan's period from above.
  double period_us() const { return us / requests; }
};

// So many requests in a row, with nothing else on the network. The plan is one of PlanPool() for this
// graph and pool, or one like it.
PoolSimulation SimulatePool(const Graph& graph, const Plan& plan, const PoolCosts& pool, int requests = 1);

// For chrome://tracing and Perfetto (base/timeline.h): each processor computes, sends and receives in lanes
// of its own, with arrows from what is sent to where it is received, and from there to what had to wait for
// it.
std::string ChromeJson(const PoolSimulation& simulation, const Plan& plan);

}  // namespace mete
