#include "plan/pool/branches.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "plan/pool/placements.h"

namespace mete {
namespace {

// The number of assignments that are kept for each set of processors at a boundary; each is a state of the
// planner. For GoogLeNet and Inception v3 on two and on five estimated processors, with hand-overs of 0.01
// and 0.3 ms and links of 1 to 100 Gbit/s, plans with one assignment take up to 0.3 % longer. Plans with six
// take up to 0.5 % less, and planning on five processors takes up to 1.4 times as long.
constexpr size_t kMostAssignments = 2;
// If there are at most this many assignments, all of them are tried. This value is a guess: it is enough for
// four branches on four processors, and few models have more branches.
constexpr size_t kAllAssignments = 256;

// The values that lie on one processor.
struct Branch {
  std::vector<size_t> live;  // which of the boundary's live values
  std::vector<double> us;    // by processor of the pool, what its layers since the fork take
  bool older = false;        // than the fork: nothing is computed for it
};

// What is live at a boundary by branches.
class BranchFinder {
 public:
  BranchFinder(PoolModel& model, int boundary)
      : model_(model),
        boundary_(boundary),
        live_(model.Live(boundary)),
        branch_(live_.size()),
        best_branch_(live_.size()),
        made_(live_.size(), false),
        best_made_(live_.size(), false) {
    for (size_t v = 0; v < live_.size(); ++v) chains_.push_back(&NeedOf({v}));
    std::iota(branch_.begin(), branch_.end(), size_t{0});
  }

  // Those that are made since the fork, and then, as one more, all older values. Nothing where there are less
  // than two branches, or where the next layer goes on with one of them alone.
  std::vector<Branch> Do() {
    FindFork();
    std::set<size_t> all, read_next;
    for (size_t v = 0; v < live_.size(); ++v) {
      if (!best_made_[v]) continue;
      all.insert(best_branch_[v]);
      if (IsReadNext(live_[v])) read_next.insert(best_branch_[v]);
    }
    if (all.size() < 2 || read_next.size() == 1) return {};
    std::vector<Branch> branches;
    for (size_t first = 0; first < live_.size(); ++first) AddBranch(first, branches);
    Branch older = Where([&](size_t v) { return !best_made_[v]; });
    older.older = true;
    if (!older.live.empty()) branches.push_back(std::move(older));
    return branches;
  }

 private:
  const LiveParts& NeedOf(const std::vector<size_t>& values) {
    std::vector<ValuePart> parts;
    for (const size_t v : values) parts.push_back({live_[v], Part::All()});
    return model_.needs().Of(boundary_, parts);
  }

  // Goes back layer by layer. The fork is where most branches are apart; of several such places the first one
  // of the graph.
  void FindFork() {
    size_t most = 0;
    for (int layer = boundary_ - 1; layer >= 0; --layer) {
      Connect();
      const size_t branches = Count();
      if (branches < most) continue;
      most = branches;
      best_branch_ = branch_;
      best_made_ = made_;
      fork_ = layer;
    }
  }

  // Goes back by a layer: all values that need it are of one branch.
  void Connect() {
    std::optional<size_t> one;
    for (size_t v = 0; v < live_.size(); ++v) {
      if (chains_[v]->fraction) {
        made_[v] = true;
        if (one) std::replace(branch_.begin(), branch_.end(), size_t(branch_[v]), size_t(branch_[*one]));
        one = v;
      }
      chains_[v] = chains_[v]->before;
    }
  }

  size_t Count() const {
    std::set<size_t> branches;
    for (size_t v = 0; v < live_.size(); ++v)
      if (made_[v]) branches.insert(branch_[v]);
    return branches.size();
  }

  // A join counts for the layer before it: there the branch ends that the layer goes on with.
  bool IsReadNext(ValueId id) const {
    if (boundary_ == model_.boundaries()) return true;  // by the caller
    const std::vector<Layer>& layers = model_.layers();
    const size_t last = size_t(boundary_) + (model_.IsBeforeJoin(boundary_ + 1) ? 1 : 0);
    for (int n = layers[size_t(boundary_)].begin; n < layers[last].end; ++n) {
      const std::vector<ValueId>& inputs = model_.graph().nodes[size_t(n)].inputs;
      if (std::count(inputs.begin(), inputs.end(), id) > 0) return true;
    }
    return false;
  }

  template <class Belongs>
  Branch Where(const Belongs& belongs) const {
    Branch branch{{}, std::vector<double>(model_.pool().processors.size(), 0), false};
    for (size_t v = 0; v < live_.size(); ++v)
      if (belongs(v)) branch.live.push_back(v);
    return branch;
  }

  // The branch whose first value this is, if it is one's.
  void AddBranch(size_t first, std::vector<Branch>& branches) {
    Branch branch = Where([&](size_t v) { return best_made_[v] && best_branch_[v] == best_branch_[first]; });
    if (branch.live.empty() || branch.live[0] != first) return;
    const LiveParts* need = &NeedOf(branch.live);
    for (int layer = boundary_ - 1; layer >= fork_; --layer, need = need->before)
      for (size_t d = 0; need->fraction && d < branch.us.size(); ++d)
        branch.us[d] += UsOf(model_.pool().processors[d].layers[size_t(layer)], *need);
    branches.push_back(std::move(branch));
  }

  PoolModel& model_;
  const int boundary_;
  const std::vector<ValueId>& live_;
  std::vector<const LiveParts*> chains_;  // by value, what is needed for it before the layers that were seen
  // By value: its branch, any number; and whether a layer that was seen makes it. The best ones are at the
  // fork.
  std::vector<size_t> branch_, best_branch_;
  std::vector<bool> made_, best_made_;
  int fork_ = 0;  // the first layer behind the fork
};

// Ways to deal out branches to a set of processors, by what the processor takes that takes longest.
class Assigner {
 public:
  using Assignment = std::vector<size_t>;  // by branch, which of the processors

  // References are kept. The last of the branches may be of older values.
  Assigner(const std::vector<Branch>& branches, const std::vector<int>& processors)
      : branches_(branches), processors_(processors) {}

  // The best of them, the first one first.
  std::vector<Assignment> Best() const {
    std::vector<Assignment> all = Candidates();
    std::erase_if(all, [&](const Assignment& a) { return !UsesAll(a); });
    std::stable_sort(all.begin(), all.end(),
                     [&](const Assignment& a, const Assignment& b) { return Us(a) < Us(b); });
    if (all.size() > kMostAssignments) all.resize(kMostAssignments);
    return all;
  }

 private:
  std::vector<Assignment> Candidates() const {
    size_t count = 1;
    for (size_t b = 0; b < branches_.size() && count <= kAllAssignments; ++b) count *= processors_.size();
    return count <= kAllAssignments ? All(count) : Neighbours(LongestFirst());
  }

  // As numbers with a digit a branch, the last branch's first: older values stay on the first processor where
  // that makes no difference.
  std::vector<Assignment> All(size_t count) const {
    std::vector<Assignment> all;
    for (size_t number = 0; number < count; ++number) {
      Assignment& assignment = all.emplace_back(branches_.size());
      size_t rest = number;
      for (size_t b = 0; b < branches_.size(); ++b, rest /= processors_.size())
        assignment[b] = rest % processors_.size();
    }
    return all;
  }

  // The longest branch first, each to the processor that is done with it first.
  Assignment LongestFirst() const {
    std::vector<size_t> order(branches_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return Least(a) > Least(b); });
    Assignment assignment(branches_.size());
    std::vector<double> us(processors_.size(), 0);
    for (const size_t b : order) {
      const auto done = [&](size_t k) { return us[k] + UsOn(b, k); };
      size_t first = 0;
      for (size_t k = 1; k < processors_.size(); ++k)
        if (done(k) < done(first)) first = k;
      us[first] = done(first);
      assignment[b] = first;
    }
    return assignment;
  }

  // It, and those with one branch moved or two exchanged.
  std::vector<Assignment> Neighbours(const Assignment& assignment) const {
    std::set<Assignment> all{assignment};
    for (size_t b = 0; b < assignment.size(); ++b) {
      for (size_t k = 0; k < processors_.size(); ++k) {
        Assignment moved = assignment;
        moved[b] = k;
        all.insert(std::move(moved));
      }
      for (size_t other = 0; other < b; ++other) {
        Assignment exchanged = assignment;
        std::swap(exchanged[b], exchanged[other]);
        all.insert(std::move(exchanged));
      }
    }
    return {all.begin(), all.end()};
  }

  double UsOn(size_t branch, size_t processor) const {
    return branches_[branch].us[size_t(processors_[processor])];
  }
  double Least(size_t branch) const {
    double us = UsOn(branch, 0);
    for (size_t k = 1; k < processors_.size(); ++k) us = std::min(us, UsOn(branch, k));
    return us;
  }
  double Us(const Assignment& assignment) const {
    std::vector<double> us(processors_.size(), 0);
    for (size_t b = 0; b < assignment.size(); ++b) us[assignment[b]] += UsOn(b, assignment[b]);
    return *std::max_element(us.begin(), us.end());
  }
  // Whether each processor computes something.
  bool UsesAll(const Assignment& assignment) const {
    std::set<size_t> used;
    for (size_t b = 0; b < assignment.size(); ++b)
      if (!branches_[b].older) used.insert(assignment[b]);
    return used.size() == processors_.size();
  }

  const std::vector<Branch>& branches_;
  const std::vector<int>& processors_;
};

bool AllShapesKnown(const PoolModel& model, int boundary) {
  const std::vector<ValueId>& live = model.Live(boundary);
  return std::all_of(live.begin(), live.end(),
                     [&](ValueId id) { return model.graph().value(id).shape.known(); });
}

}  // namespace

std::vector<Placement> BranchPlacements(PoolModel& model, int boundary) {
  const size_t values = model.Live(boundary).size();
  if (values < 2 || model.pool().processors.size() < 2 || !AllShapesKnown(model, boundary)) return {};
  const std::vector<Branch> branches = BranchFinder(model, boundary).Do();
  std::vector<Placement> placements;
  if (branches.empty()) return placements;
  for (const std::vector<int>& processors : ProcessorSets(model.pool())) {
    if (processors.size() < 2 || processors.size() > branches.size()) continue;
    for (const auto& assignment : Assigner(branches, processors).Best()) {
      std::vector<int> owners(values);
      for (size_t b = 0; b < branches.size(); ++b)
        for (const size_t v : branches[b].live) owners[v] = processors[assignment[b]];
      placements.push_back(OwnedBy(std::move(owners)));
    }
  }
  return placements;
}

std::vector<Placement> AllOwners(size_t values, size_t processors) {
  size_t count = 1;
  for (size_t v = 0; v < values; ++v) count *= processors;
  std::vector<Placement> all;
  for (size_t number = 0; number < count; ++number) {
    std::vector<int> owners;
    for (size_t v = 0, rest = number; v < values; ++v, rest /= processors)
      owners.push_back(int(rest % processors));
    Placement placement = OwnedBy(std::move(owners));
    if (placement.processors.size() > 1) all.push_back(std::move(placement));
  }
  return all;
}

std::vector<Placement> AllBranches(PoolModel& model, int boundary) {
  const size_t values = model.Live(boundary).size(), processors = model.pool().processors.size();
  if (!AllShapesKnown(model, boundary)) return {};
  double ways = 1;
  for (size_t v = 0; v < values; ++v) ways *= double(processors);
  if (ways > double(kAllAssignments)) return BranchPlacements(model, boundary);
  std::vector<Placement> all = AllOwners(values, processors);
  std::erase_if(all, [&](const Placement& p) { return !CanShareGroup(model.pool(), p.processors); });
  return all;
}

}  // namespace mete
