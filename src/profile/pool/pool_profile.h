// Measures the times of a model's layers on processors that are there, and the links to these processors; the
// results are kept as costs. Only single layers are measured, as Legion does it (systems.md, 3): the planner
// computes the times of groups.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "mete/engine.h"
#include "run/member.h"

namespace mete {

struct PoolProfile {
  std::string model;               // the graph's name
  std::string digest;              // of the graph that was measured, which is the one that is divided
  std::vector<LinkProfile> links;  // by processor; the caller's own has no link
  PoolCosts costs;
  double seconds = 0;  // duration of the measurement
  // the part of it that the slowest processor took to make graphs ready; kernels are chosen once
  double prepare_seconds = 0;
};

// Returns a name for a text: 32 hexadecimal digits that differ if the texts do (XXH3, 128 bits).
std::string DigestOfText128(std::string_view text);

// Returns the digest for which a profile is valid: that of the graph's names, attributes and shapes, not of
// its weights.
std::string DigestOfGraph(const Graph& graph);

struct PoolProfileOptions {
  // gets what is measured, and how much of it is done
  std::function<void(const std::string&, int, int)> progress;
  const CancelToken* cancel = nullptr;
  // The memory of this device, if its processors slow each other noticeably by using it (CoRun in
  // costs/pool.h), as a CPU and a GPU of one chip do. Then each of them is timed while the others rest, and
  // once more while they compute. Empty: all processors are timed at the same time, so that the times of
  // layers contain what the others do to them.
  std::string memory = {};
  // By processor: the hardware that it shares with others, which are not timed while it is; "": its own. No
  // element at all: all have their own.
  std::vector<std::string> units = {};
  // of the threads that compute on the home; null: nothing else is computed there meanwhile
  Turn* home_turn = nullptr;
};

// Measures the layers of `graph`, a graph before the pass `layout`, on each processor of a pool, and the
// links to the members. `home` computes on the calling thread. `members` has one for each processor; the
// first, the home's, is null. `names` are those of all processors. Error if a member does not answer.
PoolProfile ProfilePool(const Graph& graph, const std::vector<std::string>& names, Processor& home,
                        const std::vector<Member*>& members, const PoolProfileOptions& options);

// Measures only the links, one after the other, as ProfilePool() does.
std::vector<LinkProfile> ProfileLinks(Processor& home, const std::vector<Member*>& members,
                                      const PoolProfileOptions& options);

std::string ToJson(const LinkProfile& link);
std::string ToJson(const PoolProfile& profile);
// Returns a profile; throws an Error that names `where` if the text is no profile or contradicts itself.
PoolProfile PoolProfileFromJson(std::string_view text, const std::string& where);

}  // namespace mete
