// What devices compute and need of a group, as the group grows backwards by a layer at a time: the rows of
// each layer that their parts of the group's end need, halo included. The growth is Legion's alpha, exact
// where theirs is measured.
//
// What is needed at a boundary decides what is needed of the layer before it, whoever needs it and wherever
// the group ends. So each need is kept once, and the groups of all placements walk back along the same
// chains.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "partition/layers.h"
#include "partition/row_needs.h"
#include "partition/share.h"

namespace mete {

// Parts of the values that are live at a boundary: what somebody needs there, or has.
struct LiveParts {
  struct OfValue {
    size_t live = 0;  // the value, in the order of those that are live
    Part part;        // normalized
    int64_t bytes = 0;

    bool operator==(const OfValue& o) const { return live == o.live && part == o.part; }
  };
  int boundary = 0;
  size_t number = 0;           // of its boundary's, as they came up
  std::vector<OfValue> parts;  // ascending; values of which nothing is needed are left out
  int64_t bytes = 0;           // of all of them
  // of the layer before the boundary, what is computed where this is needed; nothing where none
  std::optional<double> fraction;
  const LiveParts* before = nullptr;  // what has to be there before that layer; null at the first boundary
};

class ShareNeeds {
 public:
  // Keeps references.
  ShareNeeds(const Graph& graph, const std::vector<Layer>& layers,
             const std::vector<std::vector<ValueId>>& live);

  // References stay valid. `parts`: of values that are live there.
  const LiveParts& Of(int boundary, std::span<const ValuePart> parts);

 private:
  struct Hash {
    size_t operator()(const LiveParts* parts) const;
  };
  struct Same {
    bool operator()(const LiveParts* a, const LiveParts* b) const { return a->parts == b->parts; }
  };

  LiveParts& Trace(LiveParts& after);  // works out what is before it
  void Add(ValueId id, const Part& part);
  double Fraction(const Node& node, const Part& part) const;
  LiveParts& Kept(int boundary);  // what `need_` has of a boundary's values; forgets all of it

  const Graph& graph_;
  const std::vector<Layer>& layers_;
  const std::vector<std::vector<ValueId>>& live_;
  RowNeeds rows_;
  std::vector<std::optional<Part>> need_;  // by value, while one need is worked out
  std::vector<ValueId> needed_;            // those that have one there
  std::deque<LiveParts> all_;
  std::vector<std::unordered_set<LiveParts*, Hash, Same>> known_;  // by boundary
};

}  // namespace mete
