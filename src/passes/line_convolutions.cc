// Writes convolutions and pools along one axis (N x C x L), of floats and of bytes, as those of images with
// one row (N x C x 1 x L), for which there are fast kernels. Element-wise operators, Concat and Split between
// them follow, so that the value in two dimensions is needed only at the ends of a chain, where it is a view.
#include <map>

#include "graph/traits.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

constexpr int64_t kRowAxis = 2;  // of the new dimension, of 1

class Widener {
 public:
  explicit Widener(Graph& graph) : graph_(graph), wide_(graph.values.size(), kNoValue) {}

  bool Run() {
    std::vector<Node> nodes;
    std::swap(nodes, graph_.nodes);
    for (Node& node : nodes)
      if (!Widen(node)) Keep(std::move(node));
    return changed_;
  }

 private:
  const Shape& ShapeOf(ValueId id) const { return graph_.value(id).shape; }
  bool IsLine(ValueId id) const { return id != kNoValue && ShapeOf(id).known() && ShapeOf(id).rank() == 3; }
  bool IsWide(ValueId id) const {
    return id != kNoValue && size_t(id) < wide_.size() && wide_[size_t(id)] != kNoValue;
  }

  // Remembers of a Transpose between N x L x C and N x C x L that its result is a Transpose in two
  // dimensions, too: convolutions that compute channels last then read its input as it is.
  void Keep(Node node) {
    if (node.op == "Transpose" && IsLine(node.inputs[0]) && node.attributes.IntList("perm") == Ints{0, 2, 1})
      swapped_.emplace(node.outputs[0], node.inputs[0]);
    graph_.nodes.push_back(std::move(node));
  }

  bool Widen(Node& node) {
    if (node.outputs.empty() || !std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
          return IsLine(id) && IsOfConvolutions(graph_, id);
        }))
      return false;
    if (IsOneOf(node.op, {"Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "mete.ScaledConvInteger",
                          "MaxPool", "AveragePool", "mete.QLinearAveragePool"}))
      return WidenWindow(node);
    if (!std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return IsWide(id); }))
      return false;
    if (node.op == "Transpose") return WidenTranspose(node);
    if (IsOneOf(node.op, {"Concat", "Split"})) return WidenAxis(node);
    if (IsOneOf(node.op, {"QuantizeLinear", "DequantizeLinear"})) return WidenConversion(node);
    if (IsOneOf(node.op, {"GlobalMaxPool", "GlobalAveragePool", "mete.QLinearGlobalAveragePool"}))
      return WidenFirst(node);
    return TraitsOf(node.op).orders == Orders::kAny && WidenElementwise(node);
  }

  bool WidenWindow(Node& node) {
    if (!IsLine(node.inputs[0]) || !IsOfConvolutions(graph_, node.inputs[0]) || node.outputs.size() != 1)
      return false;
    if (TraitsOf(node.op).arithmetic != Arithmetic::kWindow) {
      ValueId& weights = node.inputs[size_t(TraitsOf(node.op).weights)];
      if (!IsConstant(graph_, weights)) return false;
      weights = WideConstant(weights);
    }
    Attributes& a = node.attributes;
    const Ints& pads = a.IntList("pads");
    if (!pads.empty()) a.Set("pads", Ints{0, pads[0], 0, pads[1]});
    for (const char* name : {"kernel_shape", "strides", "dilations"})
      if (const Ints& given = a.IntList(name); !given.empty()) a.Set(name, Ints{1, given[0]});
    if (const Ints& given = a.IntList("output_padding"); !given.empty())
      a.Set("output_padding", Ints{0, given[0]});
    // The batch and the channels may stand before the length.
    if (const Ints& given = a.IntList("output_shape"); !given.empty())
      a.Set("output_shape", Ints{1, given.back()});
    node.inputs[0] = Wide(node.inputs[0]);
    Emit(std::move(node));
    return true;
  }

  bool WidenAxis(Node& node) {
    const int64_t given = node.attributes.Int("axis", TraitsOf(node.op).axis);
    const int64_t axis = given < 0 ? given + 3 : given;
    if (axis == kRowAxis) node.attributes.Set("axis", kRowAxis + 1);
    else node.attributes.Set("axis", axis);
    for (ValueId& id : node.inputs)
      if (IsLine(id)) id = Wide(id);
    Emit(std::move(node));
    return true;
  }

  bool WidenConversion(Node& node) {
    if (!ConvertsByChannel(graph_, node, 3)) return false;
    node.attributes.Set("axis", int64_t{1});
    return WidenFirst(node);
  }

  // The other inputs are no lines: they belong to the whole value or to its channels.
  bool WidenFirst(Node& node) {
    if (!IsWide(node.inputs[0])) return false;
    node.inputs[0] = Wide(node.inputs[0]);
    Emit(std::move(node));
    return true;
  }

  // Inputs are lines, or one element.
  bool WidenElementwise(Node& node) {
    if (TraitsOf(node.op).kind == OpKind::kElementwiseFirst) return WidenFirst(node);
    const auto fits = [&](ValueId id) {
      return id == kNoValue || IsLine(id) || (ShapeOf(id).known() && ShapeOf(id).Elements() == 1);
    };
    if (!std::all_of(node.inputs.begin(), node.inputs.end(), fits)) return false;
    for (ValueId& id : node.inputs)
      if (IsLine(id)) id = Wide(id);
    Emit(std::move(node));
    return true;
  }

  // N x C x L to N x L x C: the same in two dimensions, without the row.
  bool WidenTranspose(Node& node) {
    if (node.attributes.IntList("perm") != Ints{0, 2, 1}) return false;
    const Shape& out = ShapeOf(node.outputs[0]);
    Attributes perm;
    perm.Set("perm", Ints{0, 2, 3, 1});
    const ValueId moved =
        graph_.AddValue(node.name + ".wide", graph_.value(node.outputs[0]).type, {out[0], 1, out[1], out[2]});
    graph_.AddNode("Transpose", node.name, {Wide(node.inputs[0])}, {moved}, std::move(perm));
    graph_.AddNode("Squeeze", node.name + ".line", {moved, Axes(node.name, 1)}, {node.outputs[0]});
    return changed_ = true;
  }

  // Adds the node with wide outputs, and views of these as lines.
  void Emit(Node node) {
    const std::vector<ValueId> lines = node.outputs;
    const std::string name = node.name;
    for (ValueId& id : node.outputs) {
      const Shape& s = ShapeOf(id);
      const ValueId wide =
          graph_.AddValue(graph_.value(id).name + ".wide", graph_.value(id).type, {s[0], s[1], 1, s[2]});
      wide_.resize(graph_.values.size(), kNoValue);
      wide_[size_t(id)] = wide;
      id = wide;
    }
    const std::vector<ValueId> wide = node.outputs;
    graph_.nodes.push_back(std::move(node));
    const ValueId axes = Axes(name, kRowAxis);
    for (size_t i = 0; i < lines.size(); ++i)
      graph_.AddNode("Squeeze", name + ".line" + std::to_string(i), {wide[i], axes}, {lines[i]});
    changed_ = true;
  }

  ValueId Axes(const std::string& name, int64_t axis) { return AddInts(graph_, name + ".axes", Ints{axis}); }

  ValueId WideConstant(ValueId id) {
    const Tensor t = graph_.value(id).constant;
    const Shape& s = t.shape();
    return graph_.AddConstant(graph_.value(id).name + ".wide",
                              Tensor(t.type(), {s[0], s[1], 1, s[2]}, t.data(), std::make_shared<Tensor>(t)));
  }

  ValueId Wide(ValueId id) {
    if (IsWide(id)) return wide_[size_t(id)];
    const Shape s = ShapeOf(id);
    const std::string name = graph_.value(id).name;
    const DType type = graph_.value(id).type;
    const ValueId wide = graph_.AddValue(name + ".wide", type, {s[0], s[1], 1, s[2]});
    const auto from = swapped_.find(id);
    if (from == swapped_.end()) {
      graph_.AddNode("Unsqueeze", name + ".wide", {id, Axes(name, kRowAxis)}, {wide});
    } else {
      Attributes perm;
      perm.Set("perm", Ints{0, 3, 1, 2});
      const ValueId last = graph_.AddValue(name + ".last", type, {s[0], 1, s[2], s[1]});
      graph_.AddNode("Unsqueeze", name + ".last", {from->second, Axes(name, 1)}, {last});
      graph_.AddNode("Transpose", name + ".wide", {last}, {wide}, std::move(perm));
    }
    wide_.resize(graph_.values.size(), kNoValue);
    return wide_[size_t(id)] = wide;
  }

  Graph& graph_;
  std::vector<ValueId> wide_;           // per value: the same with a row dimension, or kNoValue
  std::map<ValueId, ValueId> swapped_;  // results of Transposes of the last two axes, and their inputs
  bool changed_ = false;
};

}  // namespace

bool WidenLineConvolutions(Graph& graph) { return Widener(graph).Run(); }

}  // namespace mete
