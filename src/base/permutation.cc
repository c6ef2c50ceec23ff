#include "base/permutation.h"

#include <algorithm>
#include <vector>

namespace mete {

bool Permutation::KeepsRows() const { return !perm.empty() && perm.back() == int64_t(perm.size()) - 1; }

bool Permutation::TransposesMatrices() const { return perm == Ints{1, 0} || perm == Ints{0, 2, 1}; }

Permutation JoinedPermutation(const Shape& in, Ints perm) {
  if (perm.empty())
    for (int i = in.rank() - 1; i >= 0; --i) perm.push_back(i);
  Ints order;  // the input axes that are not 1, in output order
  for (int64_t p : perm)
    if (in[int(p)] != 1) order.push_back(p);
  Ints kept = order;
  std::sort(kept.begin(), kept.end());
  std::vector<Ints> groups;  // runs of input axes that stay together
  for (int64_t axis : order) {
    const auto next =
        groups.empty() ? kept.end() : std::upper_bound(kept.begin(), kept.end(), groups.back().back());
    if (next != kept.end() && *next == axis) groups.back().push_back(axis);
    else groups.push_back({axis});
  }
  std::vector<size_t> by_input(groups.size());
  for (size_t i = 0; i < by_input.size(); ++i) by_input[i] = i;
  std::sort(by_input.begin(), by_input.end(),
            [&](size_t a, size_t b) { return groups[a][0] < groups[b][0]; });
  Permutation p;
  p.perm.resize(groups.size());
  for (size_t i = 0; i < by_input.size(); ++i) {
    int64_t size = 1;
    for (int64_t axis : groups[by_input[i]]) size *= in[int(axis)];
    p.dims.push_back(size);
    p.perm[by_input[i]] = int64_t(i);
  }
  return p;
}

bool MovesOnlyOnes(const Shape& in, const Ints& perm) {
  int64_t last = -1;
  for (int64_t p : perm) {
    if (in[int(p)] == 1) continue;
    if (p < last) return false;
    last = p;
  }
  return true;
}

}  // namespace mete
