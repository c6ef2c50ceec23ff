#include "processor/memory/memory_plan.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/fused.h"
#include "base/permutation.h"
#include "graph/traits.h"

namespace mete {
namespace {

int64_t RoundUp(int64_t bytes, int64_t alignment = kArenaAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

class Planner {
 public:
  explicit Planner(const Graph& graph)
      : graph_(graph), producer_(graph.values.size(), -1), last_(graph.values.size(), -1) {
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      for (ValueId id : graph.nodes[n].inputs)
        if (id != kNoValue) last_[size_t(id)] = int(n);
      for (ValueId id : graph.nodes[n].outputs)
        if (id != kNoValue) producer_[size_t(id)] = int(n);
    }
  }

  MemoryPlan Run() {
    FindHomes();
    FindAliases();
    PlaceArena();
    return std::move(plan_);
  }

  std::vector<PlacedValue> placed;  // of Run()

 private:
  void FindHomes() {
    const size_t n = graph_.values.size();
    plan_.home.assign(n, Home::kNone);
    plan_.where.assign(n, -1);
    plan_.alias_of.resize(n);
    std::iota(plan_.alias_of.begin(), plan_.alias_of.end(), 0);
    plan_.is_view.assign(graph_.nodes.size(), 0);
    for (size_t i = 0; i < n; ++i) {
      const Value& v = graph_.values[i];
      if (v.is_constant()) plan_.home[i] = Home::kConstant;
      else if (producer_[i] >= 0)
        plan_.home[i] = v.shape.known() && v.type != DType::kUnknown ? Home::kArena : Home::kDynamic;
    }
    for (size_t p = 0; p < graph_.inputs.size(); ++p) Set(graph_.inputs[p], Home::kInput, p);
    for (size_t p = 0; p < graph_.outputs.size(); ++p)
      if (plan_.home[size_t(graph_.outputs[p])] == Home::kArena) Set(graph_.outputs[p], Home::kOutput, p);
  }

  void Set(ValueId id, Home home, size_t port) {
    plan_.home[size_t(id)] = home;
    plan_.where[size_t(id)] = int64_t(port);
  }

  bool InArena(ValueId id) const { return id != kNoValue && plan_.home[size_t(id)] == Home::kArena; }

  void FindAliases() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (node.attributes.Has(kIntoChannels)) ContinueInto(node);
      if (node.outputs.size() != 1 || !InArena(node.outputs[0]) || node.inputs.empty()) continue;
      if (IsView(node) && ViewOf(node, n)) continue;
      Overwrite(node, n);
    }
  }

  // Passes make a Reshape of a Transpose that only moves dimensions of 1, but they do not see ones that other
  // shapes of the graph do not have.
  bool IsView(const Node& node) const {
    if (IsViewOperator(node.op)) return true;
    if (node.op != "Transpose" || node.inputs[0] == kNoValue) return false;
    const Ints& perm = node.attributes.IntList("perm");
    return !perm.empty() && MovesOnlyOnes(graph_.value(node.inputs[0]).shape, perm);
  }

  ValueId Root(ValueId id) const { return plan_.alias_of[size_t(id)]; }

  void Alias(ValueId id, ValueId root) {
    plan_.alias_of[size_t(id)] = root;
    last_[size_t(root)] = std::max(last_[size_t(root)], last_[size_t(id)]);
  }

  bool ViewOf(const Node& node, size_t n) {
    const ValueId in = node.inputs[0];
    if (in == kNoValue || plan_.home[size_t(in)] == Home::kDynamic) return false;
    Alias(node.outputs[0], Root(in));
    plan_.is_view[n] = 1;
    return true;
  }

  // The next slice of a value that convolutions write one after the other (graph/fused.h, 7). Where the
  // caller gets it, all of them write into the caller's memory.
  void ContinueInto(const Node& node) {
    const ValueId in = node.input(size_t(IntoInputOf(node.op))), out = node.outputs[0];
    if (in == kNoValue || !InArena(Root(in))) return;
    if (plan_.home[size_t(out)] == Home::kOutput)
      Set(Root(in), Home::kOutput, size_t(plan_.where[size_t(out)]));
    else if (!InArena(out)) return;
    Alias(out, Root(in));
  }

  void Overwrite(const Node& node, size_t n) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId in = node.inputs[i];
      if (!InArena(in) || !MayOverwrite(node, i)) continue;
      const ValueId root = Root(in);
      if (!InArena(root) || last_[size_t(root)] != int(n) || Bytes(in) != Bytes(node.outputs[0])) continue;
      if (graph_.value(in).shape != graph_.value(node.outputs[0]).shape) continue;
      Alias(node.outputs[0], root);
      return;
    }
  }

  int64_t Bytes(ValueId id) const {
    return graph_.value(id).shape.Elements() * int64_t(SizeOf(graph_.value(id).type));
  }

  void PlaceArena() {
    std::vector<Lifetime> lifetimes;
    std::vector<ValueId> ids;
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (plan_.home[i] != Home::kArena) continue;
      plan_.unshared_bytes += RoundUp(Bytes(ValueId(i)));
      if (Root(ValueId(i)) != ValueId(i)) continue;
      lifetimes.push_back({Bytes(ValueId(i)), producer_[i], std::max(last_[i], producer_[i])});
      ids.push_back(ValueId(i));
    }
    const ArenaPlacement placement = Place(lifetimes);
    for (size_t k = 0; k < ids.size(); ++k) {
      plan_.where[size_t(ids[k])] = placement.offsets[k];
      placed.push_back({ids[k], lifetimes[k], placement.offsets[k]});
    }
    for (size_t i = 0; i < graph_.values.size(); ++i) {  // aliases live where their root lives
      const size_t root = size_t(Root(ValueId(i)));
      if (root == i) continue;
      plan_.home[i] = plan_.home[root];
      plan_.where[i] = plan_.where[root];
    }
    plan_.arena_bytes = placement.total;
  }

  const Graph& graph_;
  std::vector<int> producer_;  // per value, the node that makes it; -1 for inputs and constants
  MemoryPlan plan_;
  std::vector<int> last_;  // per value, the last node that reads it or, for a root, one of its aliases
};

}  // namespace

ArenaPlacement Place(const std::vector<Lifetime>& lifetimes, int64_t alignment) {
  const auto rounded = [&](size_t i) { return RoundUp(lifetimes[i].bytes, alignment); };
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  ArenaPlacement result;
  result.offsets.assign(lifetimes.size(), 0);
  std::vector<size_t> placed;  // sorted by offset
  for (size_t i : order) {
    int64_t at = 0;
    for (size_t p : placed) {
      const bool overlap = lifetimes[p].first <= lifetimes[i].last && lifetimes[i].first <= lifetimes[p].last;
      if (!overlap) continue;
      if (at + rounded(i) <= result.offsets[p]) break;
      at = std::max(at, result.offsets[p] + rounded(p));
    }
    result.offsets[i] = at;
    result.total = std::max(result.total, at + rounded(i));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return result.offsets[a] < result.offsets[b]; }),
                  i);
  }
  return result;
}

MemoryPlan PlanMemory(const Graph& graph) { return Planner(graph).Run(); }

std::vector<PlacedValue> PlacedValues(const Graph& graph) {
  Planner planner(graph);
  (void)planner.Run();
  return std::move(planner.placed);
}

}  // namespace mete
