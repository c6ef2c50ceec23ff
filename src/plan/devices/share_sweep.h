// What one device computes and needs of a group, as the group grows backwards by a layer at a time: the rows of each layer that its part
// of the group's end needs, halo included, and what it takes for them. The growth is Legion's alpha, exact where theirs is measured.
#pragma once

#include <optional>
#include <vector>

#include "costs/pool.h"
#include "partition/layers.h"
#include "partition/row_needs.h"
#include "partition/share.h"

namespace mete {

class ShareSweep {
 public:
  // Keeps references. `wanted`: what the device has when the group is done, of the values that are live then.
  ShareSweep(const Graph& graph, const std::vector<Layer>& layers, RowNeeds& needs, const DeviceCosts& device,
             const std::vector<ValuePart>& wanted);

  void Prepend(int layer);  // the one before those that the group has

  double compute_us() const { return compute_us_; }
  // The part of a value that the device needs when the group begins; nothing where none. For values that are live there.
  const std::optional<Part>& Need(ValueId id) const { return need_[size_t(id)]; }

 private:
  void Add(ValueId id, const Part& part);
  double Fraction(const Node& node, const Part& part) const;

  const Graph& graph_;
  const std::vector<Layer>& layers_;
  RowNeeds& needs_;
  const DeviceCosts& device_;
  std::vector<std::optional<Part>> need_;  // by value
  double compute_us_ = 0;
};

}  // namespace mete
