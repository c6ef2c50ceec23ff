// Lets convolutions whose NHWC outputs are concatenated along the channels write directly to their places in
// the concatenation, so that the Concat copies nothing (graph/fused.h, 7). A Concat that only another Concat
// reads is merged with it.
#include "base/fused.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

class Joiner {
 public:
  explicit Joiner(Graph& graph) : graph_(graph), uses_(graph), joins_(graph.nodes.size()) {}

  bool Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) joins_[n] = Joins(graph_.nodes[n]);
    bool changed = false;
    for (size_t n = graph_.nodes.size(); n-- > 0;) {  // the outermost Concat first
      if (!joins_[n]) continue;
      Join(n);
      changed = true;
    }
    std::erase_if(graph_.nodes, [](const Node& node) { return node.op.empty(); });
    return changed;
  }

 private:
  struct Slice {
    size_t node;
    int64_t offset;  // in channels
  };

  // Returns true for a Concat along the last dimension whose inputs all come from convolutions, or Concats of
  // this kind, without other readers.
  bool Joins(const Node& node) const {
    if (node.op != "Concat" || node.inputs.empty()) return false;
    const Shape& shape = graph_.value(node.outputs[0]).shape;
    const int64_t axis = node.attributes.Int("axis", 0);
    return shape.known() && shape.rank() == 4 && (axis == 3 || axis == -1) &&
           std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return CanBeSlice(id); });
  }

  bool CanBeSlice(ValueId id) const {
    if (id == kNoValue || uses_.producer[size_t(id)] < 0 || !uses_.OnlyReader(id)) return false;
    const size_t p = size_t(uses_.producer[size_t(id)]);
    const Node& node = graph_.nodes[p];
    if (joins_[p]) return true;
    return IsOneOf(node.op, {"Conv", "QLinearConv"}) && node.attributes.String("layout", "") == "NHWC" &&
           !node.attributes.Has(kIntoChannels) && !node.attributes.Has(kSumPiece);
  }

  // Returns the convolutions below a Concat with their offsets, and marks the Concats among them for removal.
  std::vector<Slice> TakeSlices(size_t concat) {
    std::vector<Slice> slices;
    std::vector<size_t> waiting{concat};  // a stack: the next node is the last element
    int64_t offset = 0;
    while (!waiting.empty()) {
      const size_t n = waiting.back();
      waiting.pop_back();
      Node& node = graph_.nodes[n];
      if (!joins_[n]) {
        slices.push_back({n, offset});
        offset += graph_.value(node.outputs[0]).shape[3];
        continue;
      }
      for (auto id = node.inputs.rbegin(); id != node.inputs.rend(); ++id)
        waiting.push_back(size_t(uses_.producer[size_t(*id)]));
      joins_[n] = false;
      node.op.clear();
    }
    return slices;
  }

  // Chains the convolutions in the order of execution: each has the output of the previous one as an input,
  // and the last one produces the output of the Concat.
  void Join(size_t concat) {
    const ValueId joined = graph_.nodes[concat].outputs[0];
    const Shape shape = graph_.value(joined).shape;
    std::vector<Slice> slices = TakeSlices(concat);
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) { return a.node < b.node; });
    ValueId before = kNoValue;
    for (const Slice& slice : slices) {
      Node& node = graph_.nodes[slice.node];
      node.attributes.Set(kIntoOffset, slice.offset);
      node.attributes.Set(kIntoChannels, shape[3]);
      if (before != kNoValue) {
        node.inputs.resize(size_t(IntoInputOf(node.op)), kNoValue);
        node.inputs.push_back(before);
      }
      before = node.outputs[0];
      graph_.value(before).shape = shape;
    }
    graph_.nodes[slices.back().node].outputs[0] = joined;
  }

  Graph& graph_;
  const Uses uses_;
  std::vector<bool> joins_;  // per node
};

}  // namespace

bool ConcatInPlace(Graph& graph) { return Joiner(graph).Run(); }

}  // namespace mete
