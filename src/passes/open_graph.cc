#include "passes/open_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/error.h"
#include "passes/fold_node.h"
#include "passes/pass.h"

namespace mete {
namespace {

// The sizes of dimensions by their numbers.
using Sizes = std::map<int, int64_t>;

bool IsPrime(int64_t n) {
  for (int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

// Primes that are no size of anything in the model, each handed out once.
class Primes {
 public:
  explicit Primes(const Graph& graph) {
    for (const Value& value : graph.values) {
      if (value.is_constant() || value.shape.known()) taken_.insert(value.shape.begin(), value.shape.end());
    }
  }
  int64_t Above(int64_t least) {
    int64_t n = least + 1;
    while (!IsPrime(n) || taken_.contains(n)) ++n;
    taken_.insert(n);
    return n;
  }

 private:
  std::set<int64_t> taken_;
};

// How sizes are made up: most models take the first way; some take only multiples of what they were made for,
// or have values that are too large for the first way.
enum class SizeWay { kAbove, kMultiples, kSmall };

// The first sizes are odd and the second ones even and far from the first, so that a rounding, or a bound
// between them as in min(length, 64), shows. The distances are guesses.
struct TwoSizes {
  Sizes first, second;
};
TwoSizes MakeSizes(const Graph& graph, const OpenDims& dims, SizeWay way) {
  constexpr int64_t kLeast = 10;
  Primes primes(graph);
  TwoSizes sizes;
  for (size_t i = 0; i < dims.size(); ++i)
    for (size_t axis = 0; axis < dims[i].size(); ++axis) {
      const int number = dims[i][axis];
      if (number == kFixed || sizes.first.contains(number)) continue;
      const int64_t has = graph.value(graph.inputs[i]).shape[int(axis)];
      if (way == SizeWay::kMultiples && has > 1) {
        sizes.first[number] = has * primes.Above(1);
        sizes.second[number] = has * primes.Above(1);
      } else {
        const int64_t least = way == SizeWay::kSmall ? kLeast : std::max(has, kLeast);
        sizes.first[number] = primes.Above(least);
        sizes.second[number] = 2 * primes.Above(sizes.first[number] * 5 / 8);
      }
    }
  return sizes;
}

void SetSizes(Graph& graph, const OpenDims& dims, const Sizes& sizes) {
  for (size_t i = 0; i < dims.size(); ++i) {
    Shape& shape = graph.value(graph.inputs[i]).shape;
    for (size_t axis = 0; axis < dims[i].size(); ++axis)
      if (dims[i][axis] != kFixed) shape[int(axis)] = sizes.at(dims[i][axis]);
  }
}

struct Result {
  Graph arithmetic;  // before the passes, with all nodes of shape arithmetic
  Graph graph;       // after the passes
};

Result RunAt(const Graph& imported, const OpenDims& dims, const Sizes& sizes, const PassChoice& passes) {
  Result result;
  result.arithmetic = imported;
  Graph& walk = result.arithmetic;
  SetSizes(walk, dims, sizes);
  Varying varying(walk.values.size());
  for (size_t i = 0; i < dims.size(); ++i)
    varying[size_t(walk.inputs[i])] =
        std::any_of(dims[i].begin(), dims[i].end(), [](int number) { return number != kFixed; });
  // DequantizeLinear stays for the pass fuse-quantized; RunPasses() folds what that leaves
  FoldConstants(walk, {.keep_dequantized = true, .varying = &varying});
  result.graph = walk;
  const auto computes_open = [&](const Node& node) {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](ValueId id) { return id != kNoValue && walk.value(id).open != kNoValue; });
  };
  std::erase_if(result.graph.nodes, computes_open);
  (void)RunPasses(result.graph, {.optimize = passes.optimize,
                                 .disabled = passes.disabled,
                                 .onnxruntime_sums = passes.onnxruntime_sums,
                                 .precision = passes.precision,
                                 .node_precisions = passes.node_precisions});
  return result;
}

bool SameBody(const Graph& a, const Graph& b);

bool Same(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>) return SameContents(value, std::get<T>(b));
        else if constexpr (std::is_same_v<T, GraphPtr>) return SameBody(*value, *std::get<T>(b));
        else return value == std::get<T>(b);
      },
      a);
}

bool Same(const Attributes& a, const Attributes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && Same(x.second, y.second);
  });
}

bool SameNode(const Node& a, const Node& b) {
  return a.name == b.name && a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs &&
         Same(a.attributes, b.attributes);
}

bool SameValue(const Value& a, const Value& b) {
  if (a.name != b.name || a.type != b.type || a.layout != b.layout || a.open != b.open) return false;
  if (a.shape.known() != b.shape.known() || a.shape.rank() != b.shape.rank()) return false;
  if (a.is_constant() != b.is_constant()) return false;
  return !a.is_constant() || a.open != kNoValue || SameContents(a.constant, b.constant);
}

bool SameBody(const Graph& a, const Graph& b) {
  return &a == &b ||
         (a.inputs == b.inputs && a.outputs == b.outputs &&
          std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), SameNode) &&
          std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), SameValue));
}

// Compares the results of the passes at two sets of sizes, and makes them equal where they can be.
class Comparison {
 public:
  Comparison(Graph& a, Graph& b) : a_(a), b_(b), uses_(a) {}

  // Returns the first difference, for people; empty where there is none.
  std::string Run() {
    if (a_.nodes.size() != b_.nodes.size() || a_.values.size() != b_.values.size() ||
        a_.inputs != b_.inputs || a_.outputs != b_.outputs)
      return FirstDifference();
    for (size_t n = 0; n < a_.nodes.size(); ++n)
      if (!SameNode(a_.nodes[n], b_.nodes[n])) return Differs(a_.nodes[n]);
    for (const Node& node : a_.nodes) OpenTarget(node);
    for (size_t i = 0; i < a_.values.size(); ++i)
      if (!SameValue(a_.values[i], b_.values[i]))
        return fmt::format("the value '{}' depends on the sizes", a_.values[i].name);
    return "";
  }

 private:
  static std::string Differs(const Node& node) {
    return fmt::format("what the passes make of node '{}' ({}) depends on the sizes", node.name, node.op);
  }

  std::string FirstDifference() const {
    for (size_t n = 0; n < std::min(a_.nodes.size(), b_.nodes.size()); ++n)
      if (a_.nodes[n].name != b_.nodes[n].name || a_.nodes[n].op != b_.nodes[n].op)
        return Differs(a_.nodes[n]);
    return "the number of nodes after the passes depends on the sizes";
  }

  // A pass that makes a Reshape writes sizes to its target. Where these differ, they become 0, for the size
  // that the input has there, and once -1, for what is left.
  void OpenTarget(const Node& node) {
    if (node.op != "Reshape" || node.attributes.Int("allowzero", 0) != 0) return;
    const auto a = IntsOf(a_, node.input(1)), b = IntsOf(b_, node.input(1));
    if (!a || !b || *a == *b || a->size() != b->size() || !uses_.OnlyReader(node.inputs[1])) return;
    const Shape &from_a = a_.value(node.inputs[0]).shape, &from_b = b_.value(node.inputs[0]).shape;
    Ints target = *a;
    bool left = false;
    for (size_t i = 0; i < target.size(); ++i) {
      if ((*a)[i] == (*b)[i]) continue;
      const bool kept = int(i) < from_a.rank() && from_a[int(i)] == (*a)[i] && from_b[int(i)] == (*b)[i];
      if (!kept && left) return;
      target[i] = kept ? 0 : -1;
      left |= !kept;
    }
    a_.value(node.inputs[1]).constant = b_.value(node.inputs[1]).constant = Tensor::Ints(target);
  }

  Graph &a_, &b_;
  const Uses uses_;
};

void OpenAt(const Graph& imported, const OpenDims& dims, const TwoSizes& sizes, const PassChoice& passes,
            Opened& opened) {
  try {
    ++opened.runs;
    Result result = RunAt(imported, dims, sizes.first, passes);
    ++opened.runs;
    Result other = RunAt(imported, dims, sizes.second, passes);
    const std::string why = Comparison(result.graph, other.graph).Run();
    if (why.empty())
      opened.walk.emplace(std::move(result.arithmetic), std::make_shared<Graph>(std::move(result.graph)));
    else if (opened.why.empty()) opened.why = why;
  } catch (const Error& e) {
    if (opened.why.empty()) opened.why = e.what();
  }
}

}  // namespace

Opened OpenGraph(const Graph& imported, const OpenDims& dims, const PassChoice& passes) {
  Opened opened;
  for (const SizeWay way : {SizeWay::kAbove, SizeWay::kMultiples, SizeWay::kSmall})
    if (!opened.walk) OpenAt(imported, dims, MakeSizes(imported, dims, way), passes, opened);
  return opened;
}

void ShareConstants(Graph& graph, const Graph& from) {
  std::map<std::string_view, const Tensor*> known;
  for (const Value& value : from.values)
    if (value.is_constant()) known.emplace(value.name, &value.constant);
  for (Value& value : graph.values) {
    if (!value.is_constant() || value.open != kNoValue) continue;
    const auto at = known.find(value.name);
    if (at != known.end() && SameContents(value.constant, *at->second)) value.constant = *at->second;
  }
}

}  // namespace mete
