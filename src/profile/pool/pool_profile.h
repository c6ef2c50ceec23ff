// What a model's layers take on processors that are there, and what the links to them do: measured, kept as
// costs. Single layers only, as Legion has it (systems.md, 3): what groups of them would take is the
// planner's to say.
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
  std::string digest;              // of the graph that was measured: what is divided
  std::vector<LinkProfile> links;  // by processor; of the caller's own nothing
  PoolCosts costs;
  double seconds = 0;  // of measuring
  // the part of it that the slowest processor took to make graphs ready; kernels are chosen once
  double prepare_seconds = 0;
};

// A name for a text: 32 hexadecimal digits that differ where the texts do (XXH3, 128 bits).
std::string DigestOfText128(std::string_view text);

// What a profile is valid for: the digest of the graph's names, attributes and shapes, not of its weights.
std::string DigestOfGraph(const Graph& graph);

struct PoolProfileOptions {
  std::function<void(const std::string&, int, int)> progress;  // what is measured, how much of it is done
  const CancelToken* cancel = nullptr;
};

// Measures what the layers of `graph`, as it is before the pass `layout`, take on each processor of a pool,
// and what the links to the members do. `home` computes on this thread; `members`: by processor, the first,
// the home's, null. `names`: of all of them. Error where a member does not answer.
PoolProfile ProfilePool(const Graph& graph, const std::vector<std::string>& names, Processor& home,
                        const std::vector<Member*>& members, const PoolProfileOptions& options);

// The links alone, one after the other, as ProfilePool() has them.
std::vector<LinkProfile> ProfileLinks(Processor& home, const std::vector<Member*>& members,
                                      const PoolProfileOptions& options);

std::string ToJson(const LinkProfile& link);
std::string ToJson(const PoolProfile& profile);
// Error where it is none, or contradicts itself
PoolProfile PoolProfileFromJson(std::string_view text, const std::string& where);

}  // namespace mete
