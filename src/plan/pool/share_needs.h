// The parts that processors compute and need in a group while the group grows backwards layer by layer: the
// rows of each layer that the processors' parts at the group's end require, halo included. The growth of the
// parts is Legion's alpha, here computed exactly, there measured.
//
// The parts that are needed at a boundary determine the parts that are needed of the layer before it, for
// every processor and every end of the group. Therefore each need is stored once, and the groups of all
// placements follow the same chains backwards.
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

// Parts of the values that are live at a boundary: parts that a processor needs there, or has.
struct LiveParts {
  struct OfValue {
    size_t live = 0;  // index into the live values
    Part part;        // normalized
    int64_t bytes = 0;

    bool operator==(const OfValue& o) const { return live == o.live && part == o.part; }
  };
  int boundary = 0;
  size_t number = 0;           // index among the LiveParts of its boundary, in the order of creation
  std::vector<OfValue> parts;  // ascending by value; values without a needed part are left out
  int64_t bytes = 0;           // bytes of all parts
  // the share of the layer before the boundary that is computed for these parts, nothing if none of it is,
  // and whether it is one of the layer's channels
  std::optional<double> fraction;
  bool by_channels = false;
  const LiveParts* before = nullptr;  // the parts needed before that layer; null at the first boundary
};

class ShareNeeds {
 public:
  // Keeps references.
  ShareNeeds(const Graph& graph, const std::vector<Layer>& layers,
             const std::vector<std::vector<ValueId>>& live);

  // Returns the stored LiveParts for `parts`, which are parts of values that are live at the boundary. The
  // reference stays valid.
  const LiveParts& Of(int boundary, std::span<const ValuePart> parts);

 private:
  struct Hash {
    size_t operator()(const LiveParts* parts) const;
  };
  struct Same {
    bool operator()(const LiveParts* a, const LiveParts* b) const { return a->parts == b->parts; }
  };

  LiveParts& Trace(LiveParts& after);  // computes fraction and before
  void Add(ValueId id, const Part& part);
  double Fraction(const Node& node, const Part& part) const;
  bool IsOfChannels(const Node& node, const Part& part) const;
  LiveParts& Kept(int boundary);  // stores the parts in `need_` for a boundary, and clears `need_`

  const Graph& graph_;
  const std::vector<Layer>& layers_;
  const std::vector<std::vector<ValueId>>& live_;
  RowNeeds rows_;
  std::vector<std::optional<Part>> need_;  // by value, while one need is computed
  std::vector<ValueId> needed_;            // values with a part in need_
  std::deque<LiveParts> all_;
  std::vector<std::unordered_set<LiveParts*, Hash, Same>> known_;  // by boundary
};

}  // namespace mete
