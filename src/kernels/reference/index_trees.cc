// The kernel of mete.TreeEnsemble: each row of features goes through all trees, to one leaf of each.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/index_kernels.h"

namespace mete {
namespace {

enum Mode : uint8_t { kLessOrEqual, kLess, kGreaterOrEqual, kGreater, kEqual, kNotEqual, kMember };

std::vector<double> DoublesOf(const Tensor* t) {
  std::vector<double> out(t ? size_t(t->elements()) : 0);
  if (t) ReadDoubles(t->view(), out.data());
  return out;
}

class Trees {
 public:
  explicit Trees(const Attributes& a)
      : modes_(a.TensorOf("nodes_modes")->as<uint8_t>()),
        count_(a.TensorOf("nodes_modes")->elements()),
        features_(a.IntList("nodes_featureids")),
        tracks_true_(a.IntList("nodes_missing_value_tracks_true")),
        leaf_{&a.IntList("nodes_falseleafs"), &a.IntList("nodes_trueleafs")},
        next_{&a.IntList("nodes_falsenodeids"), &a.IntList("nodes_truenodeids")},
        splits_(DoublesOf(a.TensorOf("nodes_splits"))),
        members_(DoublesOf(a.TensorOf("membership_values"))) {
    size_t at = 0;
    for (int64_t i = 0; i < count_; ++i) {
      sets_.push_back(at);
      if (modes_[i] != kMember) continue;
      while (!std::isnan(members_[at])) ++at;
      ++at;
    }
  }

  // Returns the number of the leaf at which a row ends that begins at the node `root`.
  int64_t LeafOf(const double* row, int64_t root) const {
    size_t at = size_t(root);
    for (int64_t steps = 0; steps < count_; ++steps) {
      const bool goes = Holds(at, row[features_[at]]);
      const int64_t next = (*next_[goes])[at];
      if ((*leaf_[goes])[at]) return next;
      at = size_t(next);
    }
    Invalid("TreeEnsemble", "a tree leads back to one of its nodes; got no leaf after {} nodes", count_);
  }

 private:
  bool Holds(size_t node, double x) const {
    if (std::isnan(x) && !tracks_true_.empty() && tracks_true_[node]) return true;
    const double split = splits_[node];
    switch (modes_[node]) {
      case kLessOrEqual: return x <= split;
      case kLess: return x < split;
      case kGreaterOrEqual: return x >= split;
      case kGreater: return x > split;
      case kEqual: return x == split;
      case kNotEqual: return x != split;
      default: break;
    }
    for (const double* m = members_.data() + sets_[node]; !std::isnan(*m); ++m)
      if (*m == x) return true;
    return false;
  }

  const uint8_t* modes_;
  int64_t count_;  // of nodes
  const Ints &features_, &tracks_true_;
  const Ints *leaf_[2], *next_[2];  // by whether what the node asks holds
  std::vector<double> splits_, members_;
  std::vector<size_t> sets_;  // by node: where its set begins
};

enum Aggregate : int64_t { kAverage, kSum, kLeast, kMost };

double LargestOf(DType type) {
  return VisitFloat(type, []<class T>() {
    if constexpr (std::is_same_v<T, F16>) return 65504.0;
    else if constexpr (std::is_same_v<T, BF16>) return 0x1.fep127;
    else return double(std::numeric_limits<T>::max());
  });
}

}  // namespace

// A target without a leaf has the largest number of its type as its least one, as in ONNX's own
// implementation, and the negative of it as its most.
void RunTreeEnsemble(RefArgs& args) {
  const Attributes& a = args.attributes;
  const Trees trees(a);
  const Ints &roots = a.IntList("tree_roots"), &targets = a.IntList("leaf_targetids");
  const std::vector<double> weights = DoublesOf(a.TensorOf("leaf_weights"));
  const int64_t aggregate = a.Int("aggregate_function", kSum);
  const int64_t features = args.in[0].shape[1], width = args.out[0].shape[1];
  double* rows = args.scratch.Get<double>(size_t(args.in[0].elements()));
  double* sums = args.scratch.Get<double>(size_t(args.out[0].elements()));
  ReadDoubles(args.in[0], rows);
  const double limit = LargestOf(args.out[0].type);
  std::fill_n(sums, args.out[0].elements(), aggregate == kLeast ? limit : aggregate == kMost ? -limit : 0);
  for (int64_t r = 0; r < args.in[0].shape[0]; ++r)
    for (const int64_t root : roots) {
      const size_t leaf = size_t(trees.LeafOf(rows + r * features, root));
      double& sum = sums[r * width + targets[leaf]];
      if (aggregate == kLeast) sum = std::min(sum, weights[leaf]);
      else if (aggregate == kMost) sum = std::max(sum, weights[leaf]);
      else sum += aggregate == kAverage ? weights[leaf] / double(roots.size()) : weights[leaf];
    }
  WriteDoubles(sums, args.out[0]);
}

}  // namespace mete
