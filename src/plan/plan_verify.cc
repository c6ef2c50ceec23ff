#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/problems.h"
#include "plan/plan.h"

namespace mete {
namespace {

// The shares of a placement add up to 1 within this: they are read from text, and 64 of them are rounded.
constexpr double kShareSlack = 1e-9;

class PlanVerifier {
 public:
  PlanVerifier(const Plan& plan, const Graph& graph)
      : plan_(plan), graph_(graph), layers_(LayersOf(graph)), live_(LiveValues(graph, layers_)) {}

  // Throws unless processors, layers, groups and placements fit each other and the graph.
  void CheckAllButShares() {
    CheckNames();
    CheckFigures("plan", {plan_.gather_us, plan_.predicted_us, plan_.period_us, plan_.joules});
    CheckLayers();
    problems_.ThrowIfAny();
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      CheckFigures(WhereOf(g), {plan_.groups[g].us});
      CheckPlacement(WhereOf(g), plan_.groups[g]);
    }
    problems_.ThrowIfAny();
  }

  void CheckShares() {
    for (size_t g = 0; g < plan_.groups.size(); ++g) CheckSharesOf(WhereOf(g), plan_.groups[g]);
    problems_.ThrowIfAny();
  }

  std::vector<Share> Shares(const PlannedGroup& group) const {
    return SharesOf(graph_, layers_, live_, group.first, group.last, group.placement);
  }

 private:
  static std::string WhereOf(size_t g) { return fmt::format("group {}", g + 1); }

  template <class... A>
  void Add(const std::string& where, fmt::format_string<A...> format, A&&... args) {
    problems_.Add(where, fmt::format(format, std::forward<A>(args)...));
  }

  void CheckNames() {
    const std::vector<std::string>& names = plan_.processors;
    if (names.empty()) Add("plan", "processors; got none, expected one at least");
    for (size_t p = 0; p < names.size(); ++p) {
      if (names[p].empty()) Add("plan", "the name of processor {} is empty", p + 1);
      if (std::find(names.begin(), names.begin() + int64_t(p), names[p]) != names.begin() + int64_t(p))
        Add("plan", "processor '{}' is named twice; expected each processor once", Printable(names[p]));
    }
  }

  // The groups cover the layers of the graph, each once and in order.
  void CheckLayers() {
    const auto named = [](const std::string& name, const Layer& layer) { return name == layer.name; };
    const bool same = plan_.layers.size() == layers_.size() &&
                      std::equal(plan_.layers.begin(), plan_.layers.end(), layers_.begin(), named);
    if (!same)
      Add("plan",
          "is for another model, or for one with other passes; got '{}' with {} layers, expected '{}' with "
          "{}",
          Printable(plan_.model), plan_.layers.size(), Printable(graph_.name), layers_.size());
    int layer = 0;
    for (const PlannedGroup& group : plan_.groups) {
      if (group.first != layer || group.last < group.first || group.last > int(layers_.size()))
        Add("plan", "groups must follow each other over all {} layers; got layers {} to {} where {} begins",
            layers_.size(), group.first, group.last, layer);
      layer = group.last;
    }
    if (plan_.groups.empty() || layer != int(layers_.size()))
      Add("plan", "groups must cover all layers; got an end at {}, expected {}", layer, layers_.size());
  }

  // PartsOn() understands the placement.
  void CheckPlacement(const std::string& where, const PlannedGroup& group) {
    const Placement& p = group.placement;
    const size_t many = p.processors.size();
    const auto bad = [&](const std::string& what) { Add(where, "its placement {}", what); };
    for (size_t k = 0; k < many; ++k)
      if (p.processors[k] < 0 || p.processors[k] >= int(plan_.processors.size()) ||
          (k > 0 && p.processors[k] <= p.processors[k - 1]))
        return bad(fmt::format("names processor {}; expected numbers from 0 to {} in ascending order",
                               p.processors[k], plan_.processors.size() - 1));
    if (p.split == SplitAxis::kBranches) return CheckOwners(group, bad);
    if (!p.owners.empty()) return bad("has owners of values; expected them for branches only");
    if (many == 0 || (p.split == SplitAxis::kNone && many != 1))
      return bad(
          fmt::format("has {} processors, expected {}", many, p.split == SplitAxis::kNone ? "one" : "some"));
    if (p.shares.size() != many)
      return bad(fmt::format("needs a share for each processor; got {}, expected {}", p.shares.size(), many));
    double sum = 0;
    for (const double share : p.shares) {
      if (!(share > 0 && share <= 1))
        return bad(fmt::format("has a share of {}; expected more than 0 to 1", share));
      sum += share;
    }
    if (std::abs(sum - 1) > kShareSlack * double(many))
      bad(fmt::format("has shares that add up to {}; expected 1", sum));
  }

  template <class F>
  void CheckOwners(const PlannedGroup& group, const F& bad) {
    const Placement& p = group.placement;
    const size_t values = live_[size_t(group.last)].size();
    if (!p.shares.empty()) return bad("has shares; expected none where branches are placed");
    if (p.owners.size() != values)
      return bad(
          fmt::format("needs an owner of each live value; got {}, expected {}", p.owners.size(), values));
    for (const int owner : p.owners)
      if (!std::binary_search(p.processors.begin(), p.processors.end(), owner))
        return bad(fmt::format("has owner {}, which is not among its processors", owner));
  }

  void CheckSharesOf(const std::string& where, const PlannedGroup& group) {
    std::vector<Share> expected;
    try {
      expected = Shares(group);
    } catch (const Error& e) {
      return Add(where, "cannot be computed so: {}", e.what());
    }
    const auto same_part = [](const ValuePart& a, const ValuePart& b) {
      return a.value == b.value && a.part == b.part;
    };
    const auto same_parts = [&](const std::vector<ValuePart>& a, const std::vector<ValuePart>& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_part);
    };
    const auto same = [&](const Share& a, const Share& b) {
      return a.processor == b.processor && same_parts(a.inputs, b.inputs) && same_parts(a.outputs, b.outputs);
    };
    if (!std::equal(group.shares.begin(), group.shares.end(), expected.begin(), expected.end(), same))
      Add(where, "its shares are not those of its placement; got {} shares, expected {}", group.shares.size(),
          expected.size());
    for (const Share& share : group.shares)
      CheckFigures(where, {share.ready_us, share.compute_us, double(share.bytes)});
  }

  void CheckFigures(const std::string& where, std::initializer_list<double> figures) {
    for (const double figure : figures)
      if (!IsFigure(figure))
        Add(where, "a predicted figure; got {}, expected a finite one of 0 or more", figure);
  }

  const Plan& plan_;
  const Graph& graph_;
  const std::vector<Layer> layers_;
  const std::vector<std::vector<ValueId>> live_;
  SharedProblems problems_;
};

}  // namespace

void Verify(const Plan& plan, const Graph& graph) {
  PlanVerifier verifier(plan, graph);
  verifier.CheckAllButShares();
  verifier.CheckShares();
}

void DeriveShares(Plan& plan, const Graph& graph) {
  PlanVerifier verifier(plan, graph);
  verifier.CheckAllButShares();
  for (PlannedGroup& group : plan.groups) group.shares = verifier.Shares(group);
}

void CheckProcessors(const Plan& plan, const std::vector<std::string>& processors) {
  if (plan.processors == processors) return;
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + Printable(name);
    return text;
  };
  Invalid("plan",
          "is for another pool; got a plan for {}, expected one for {}; try to plan again for this pool",
          list(plan.processors), list(processors));
}

void CheckUnits(const Plan& plan, const std::vector<std::string>& units) {
  Problems problems;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    std::map<std::string, int> owner;  // by hardware
    for (const int p : plan.groups[g].placement.processors) {
      const std::string& unit = units[size_t(p)];
      if (unit.empty()) continue;
      if (const auto known = owner.emplace(unit, p); !known.second)
        problems.Try([&] {
          Invalid(
              fmt::format("group {}", g + 1),
              "has parts on {} and {}, which are the same hardware ({}); expected one of them, because one "
              "computes at a time; try planning again",
              Printable(plan.processors[size_t(known.first->second)]), Printable(plan.processors[size_t(p)]),
              Printable(unit));
        });
    }
  }
  problems.ThrowIfAny();
}

}  // namespace mete
