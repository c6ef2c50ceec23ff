#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "graph/traits.h"
#include "passes/pass.h"
#include "passes/quantization.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// The most nodes of a table: enough for any activation that is written as a formula. This value is a guess.
constexpr size_t kMostNodes = 64;
constexpr int64_t kBytes = 256;

class Tables {
 public:
  explicit Tables(Graph& graph) : graph_(graph), uses_(graph) {}

  bool Run() {
    bool changed = false;
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      if (graph_.nodes[n].op == "QuantizeLinear" && QuantizationOf(graph_, graph_.nodes[n]))
        changed |= Visit(n);
    std::erase_if(graph_.nodes, [](const Node& node) { return node.op.empty(); });
    return changed;
  }

 private:
  // The nodes between a tensor of bytes and a QuantizeLinear, in an order in which they can be computed.
  struct Chain {
    ValueId source = kNoValue;
    std::set<int> nodes;
  };

  bool IsBytes(ValueId id) const {
    const Value& v = graph_.value(id);
    return (v.type == DType::kI8 || v.type == DType::kU8) && !v.is_constant();
  }

  // Returns true for nodes that make an element of their output from the elements at its place of their
  // inputs and from constants of one element.
  bool IsElementwise(const Node& node) const {
    if (node.outputs.size() != 1) return false;
    const bool bytes = node.op == "mete.ByteTable" || QuantizationOf(graph_, node);
    if (bytes || node.op == "Identity") return IsOperand(node.inputs[0], graph_.value(node.outputs[0]).shape);
    const Value& out = graph_.value(node.outputs[0]);
    return IsElementwiseOperator(node.op) && out.type == DType::kF32 &&
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId id) { return id == kNoValue || IsOperand(id, out.shape); });
  }

  // Returns true for a value of one element, such as a constant that is dequantized, and for others of the
  // output's shape. The source has the shape of the whole chain's result, so that each value with more
  // elements has, too.
  bool IsOperand(ValueId id, const Shape& out) const {
    const Value& v = graph_.value(id);
    if (v.is_constant() && !IsConstant(graph_, id)) return false;
    return v.shape.known() && (v.shape.Elements() == 1 || (!v.is_constant() && v.shape == out));
  }

  // Adds the node that makes `id`, and the ones before it, up to tensors of bytes, which become sources.
  // Returns false if something else is on the way.
  bool Expand(ValueId id, Chain* chain, std::set<std::pair<int, ValueId>>* sources) const {
    const int n = uses_.producer[size_t(id)];
    if (n < 0 || chain->nodes.size() >= kMostNodes || !IsElementwise(graph_.nodes[size_t(n)])) return false;
    if (!chain->nodes.insert(n).second) return true;
    for (ValueId in : graph_.nodes[size_t(n)].inputs) {
      if (in == kNoValue || graph_.value(in).is_constant()) continue;
      if (IsBytes(in)) sources->emplace(uses_.producer[size_t(in)], in);
      else if (!Expand(in, chain, sources)) return false;
    }
    return true;
  }

  // Finds the tensor of bytes on which alone `id` depends. Of several sources, the one that is made last is
  // replaced by what it is made of.
  std::optional<Chain> ChainBefore(ValueId id) const {
    Chain chain;
    std::set<std::pair<int, ValueId>> sources;
    if (!Expand(id, &chain, &sources)) return std::nullopt;
    while (sources.size() > 1) {
      const auto last = std::prev(sources.end());
      const ValueId at = last->second;
      sources.erase(last);
      if (!Expand(at, &chain, &sources)) return std::nullopt;
    }
    if (sources.empty()) return std::nullopt;
    chain.source = sources.begin()->second;
    if (graph_.value(chain.source).shape != graph_.value(id).shape) return std::nullopt;
    return chain;
  }

  // Computes the bytes that the chain makes of each byte.
  Tensor TableOf(const Chain& chain, ValueId result) const {
    std::vector<uint8_t> every(static_cast<size_t>(kBytes));
    std::iota(every.begin(), every.end(), uint8_t{0});
    // The bytes have the rank of the source, to which constants of one element but many dimensions are
    // broadcast.
    Shape shape;
    for (int i = 1; i < graph_.value(chain.source).shape.rank(); ++i) shape.push_back(1);
    shape.push_back(kBytes);
    Graph table;
    std::map<ValueId, ValueId> there;
    there[chain.source] =
        table.AddConstant("x", Tensor::Of<uint8_t>(graph_.value(chain.source).type, shape, every));
    const auto of = [&](ValueId id) {
      if (id == kNoValue) return id;
      const auto at = there.find(id);
      if (at != there.end()) return at->second;
      const Value& v = graph_.value(id);
      return there[id] = v.is_constant() ? table.AddConstant(v.name, v.constant) : table.AddValue(v.name);
    };
    for (int n : chain.nodes) {
      Node node = graph_.nodes[size_t(n)];
      for (ValueId& id : node.inputs) id = of(id);
      for (ValueId& id : node.outputs) id = of(id);
      table.nodes.push_back(std::move(node));
    }
    try {
      FoldConstants(table);
    } catch (const Error&) {
      return {};  // an operator takes a source of one element and not one of 256, such as a bound of Clip
    }
    const Tensor& bytes = table.value(there.at(result)).constant;
    if (!bytes.has_value()) return {};
    return Tensor(bytes.type(), Shape{kBytes}, bytes.data(), std::make_shared<Tensor>(bytes));
  }

  static bool IsIdentity(const Tensor& table, DType from) {
    const auto* bytes = static_cast<const uint8_t*>(table.data());
    for (int64_t i = 0; i < kBytes; ++i)
      if (bytes[i] != i) return false;
    return table.type() == from;
  }

  bool Visit(size_t n) {
    const ValueId result = graph_.nodes[n].outputs[0];
    const auto chain = ChainBefore(result);
    if (!chain || !graph_.value(result).shape.known()) return false;
    const Tensor table = TableOf(*chain, result);
    if (!table.has_value()) return false;
    Node& node = graph_.nodes[n];
    if (IsIdentity(table, graph_.value(chain->source).type)) {
      node.op = "Identity";
      node.inputs = {chain->source};
    } else {
      node.op = "mete.ByteTable";
      node.inputs = {chain->source, graph_.AddConstant(node.name + ".table", table)};
    }
    node.attributes = {};
    return true;
  }

  Graph& graph_;
  const Uses uses_;
};

}  // namespace

bool FuseByteTables(Graph& graph) { return Tables(graph).Run(); }

}  // namespace mete
