// The place of every activation. Activations lie in one arena, and values whose lifetimes do not overlap
// share bytes. A view (Reshape, ...) shares the place of its input, and so do the values of a concatenation
// that convolutions write slice by slice.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace mete {

// The time in which a value needs memory: from the step that makes it to the last step that reads it, both
// included.
struct Lifetime {
  int64_t bytes = 0;
  int first = 0, last = 0;
};

struct ArenaPlacement {
  std::vector<int64_t> offsets;  // one for each lifetime, multiples of the alignment
  int64_t total = 0;             // bytes of the arena
};

// A line of the cache of most processors, and the widest vector of a CPU.
inline constexpr int64_t kArenaAlignment = 64;

// Places the values greedily by size: the largest value first, each at the lowest offset that is free for its
// whole life (the method of Pisarchyk and Lee, "Efficient memory management for deep neural net inference",
// 2020).
ArenaPlacement Place(const std::vector<Lifetime>& lifetimes, int64_t alignment = kArenaAlignment);

enum class Home : uint8_t { kNone, kConstant, kInput, kOutput, kArena, kDynamic };

struct MemoryPlan {
  std::vector<Home> home;         // per value
  std::vector<int64_t> where;     // kArena: offset; kInput, kOutput: port index
  std::vector<ValueId> alias_of;  // the value whose memory this one shares: mostly itself
  std::vector<uint8_t> is_view;   // per node: its output is an alias, there is nothing to compute
  int64_t arena_bytes = 0;
  int64_t unshared_bytes = 0;  // the sum over all values
};

MemoryPlan PlanMemory(const Graph& graph);

// A value that has a place of its own in the arena of PlanMemory(); the steps of its life are nodes. Values
// that share its place by being its alias are not listed.
struct PlacedValue {
  ValueId id;
  Lifetime life;
  int64_t offset = 0;
};
std::vector<PlacedValue> PlacedValues(const Graph& graph);

}  // namespace mete
