// Where every activation lives: one arena; values whose lifetimes do not overlap share bytes; a view
// (Reshape, ...) shares its input's, and so do the values of a concatenation that convolutions write slice by
// slice.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace mete {

// A value that needs memory from the step that makes it to the last that reads it, both included.
struct Lifetime {
  int64_t bytes = 0;
  int first = 0, last = 0;
};

struct ArenaPlacement {
  std::vector<int64_t> offsets;  // one a lifetime, multiples of 64
  int64_t total = 0;             // bytes of the arena
};

// Greedy by size: the largest value first, each at the lowest offset that is free for its whole life
// (the method of Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020).
ArenaPlacement Place(const std::vector<Lifetime>& lifetimes);

enum class Home : uint8_t { kNone, kConstant, kInput, kOutput, kArena, kDynamic };

struct MemoryPlan {
  std::vector<Home> home;         // per value
  std::vector<int64_t> where;     // kArena: offset; kInput, kOutput: port index
  std::vector<ValueId> alias_of;  // the value whose memory this one shares, itself mostly
  std::vector<uint8_t> is_view;   // per node: its output is an alias, there is nothing to compute
  int64_t arena_bytes = 0;
  int64_t unshared_bytes = 0;  // the sum over all values
};

MemoryPlan PlanMemory(const Graph& graph);

}  // namespace mete
