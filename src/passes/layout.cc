// Converts activations to NHWC. The pass walks the graph in order and keeps an NHWC twin for each 4-D value.
// Operators that prefer NHWC read and produce twins; operators that work in any order follow their inputs;
// for all other operators, a Transpose recreates the plain value when it is first read. A value that the
// model has with its channels last, or a share gets so from another processor, is the twin of its plain
// value. An image that is reshaped to one line of pixels, N x C x P, has a flat twin N x P x C in the same
// way.
#include "graph/traits.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

constexpr int kToNhwcAxis[4] = {0, 3, 1, 2};                 // plain axis a is NHWC axis kToNhwcAxis[a]
const std::vector<int> kNchwToNhwc = {0, 2, 3, 1};           // NHWC axis i is plain axis kNchwToNhwc[i]
const Ints kToNhwc = {0, 2, 3, 1}, kToPlain = {0, 3, 1, 2};  // `perm` of a Transpose to either order
const Ints kFlatToPlain = {0, 2, 1};

class LayoutPass {
 public:
  explicit LayoutPass(Graph& graph)
      : graph_(graph),
        uses_(graph),
        twin_(graph.values.size(), kNoValue),
        flat_(graph.values.size(), kNoValue),
        has_plain_(graph.values.size(), true) {
    for (size_t i = 0; i < graph.values.size(); ++i)
      if (uses_.producer[i] >= 0) has_plain_[i] = false;
  }

  bool Run() {
    std::vector<Node> nodes;
    std::swap(nodes, graph_.nodes);
    for (size_t n = 0; n < nodes.size(); ++n) Visit(nodes, n);
    for (ValueId id : graph_.outputs) Plain(id);
    return changed_;
  }

 private:
  void Visit(std::vector<Node>& nodes, size_t n) {
    Node& node = nodes[n];
    if (node.op.empty()) return;  // the node was already converted as part of a shuffle
    if (BringsTwin(node)) return;
    if (Rank4Output(node)) {
      if (TraitsOf(node.op).orders == Orders::kChannelsLast && Likes(node)) return;
      if (AnyTwin(node) && Follow(node)) return;
    } else {
      if (AnyTwin(node) && (Reduces(node) || Shuffle(nodes, n) || Anchors(nodes, n) || Flattens(node)))
        return;
      if (AllFlat(node) && FollowFlat(node)) return;
    }
    for (ValueId id : node.inputs)
      if (id != kNoValue) Plain(id);
    for (ValueId id : node.outputs)
      if (id != kNoValue) has_plain_[size_t(id)] = true;
    graph_.nodes.push_back(std::move(node));
  }

  // True for a Transpose of a value with channels last to the plain order, as behind a product over the
  // channels. The value is then the twin, and the Transpose is made again only if a node needs the plain
  // value.
  bool BringsTwin(const Node& node) {
    if (node.op != "Transpose" || !IsRank4(node.inputs[0])) return false;
    const ValueId from = node.inputs[0], to = node.outputs[0];
    if (node.attributes.IntList("perm") != kToPlain || graph_.value(from).is_constant()) return false;
    Plain(from);
    graph_.value(from).layout = Layout::kNhwc;
    twin_[size_t(to)] = from;
    return changed_ = true;
  }

  const Shape& ShapeOf(ValueId id) const { return graph_.value(id).shape; }
  bool IsRank4(ValueId id) const { return id != kNoValue && ShapeOf(id).known() && ShapeOf(id).rank() == 4; }

  bool Rank4Output(const Node& node) const {
    if (node.outputs.empty() || !IsRank4(node.outputs[0])) return false;
    for (size_t i = 1; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kNoValue && !IsRank4(node.outputs[i])) return false;
    return true;
  }

  bool AnyTwin(const Node& node) const {
    for (ValueId id : node.inputs)
      if (id != kNoValue && size_t(id) < twin_.size() && twin_[size_t(id)] != kNoValue) return true;
    return false;
  }

  static Shape ToNhwc(const Shape& s) { return {s[0], s[2], s[3], s[1]}; }

  ValueId AddTwin(ValueId id) {
    const ValueId twin =
        graph_.AddValue(graph_.value(id).name + ".nhwc", graph_.value(id).type, ToNhwc(ShapeOf(id)));
    graph_.value(twin).layout = Layout::kNhwc;
    Grow();
    twin_[size_t(id)] = twin;
    return twin;
  }

  void Grow() {
    twin_.resize(graph_.values.size(), kNoValue);
    flat_.resize(graph_.values.size(), kNoValue);
    has_plain_.resize(graph_.values.size(), true);
  }

  // Returns the NHWC twin of a 4-D value, and adds a Transpose if there is none yet.
  ValueId Twin(ValueId id) {
    if (twin_[size_t(id)] != kNoValue) return twin_[size_t(id)];
    if (IsConstant(graph_, id)) {
      const ValueId twin = graph_.AddConstant(graph_.value(id).name + ".nhwc",
                                              Permuted(graph_.value(id).constant, kNchwToNhwc));
      Grow();
      return twin_[size_t(id)] = twin;
    }
    const ValueId twin = AddTwin(id);
    Attributes attributes;
    attributes.Set("perm", kToNhwc);
    attributes.Set("mete_layout", int64_t{1});
    graph_.AddNode("Transpose", "layout.to_nhwc." + graph_.value(id).name, {id}, {twin},
                   std::move(attributes));
    return twin;
  }

  // Makes sure that the plain form of a value exists.
  void Plain(ValueId id) {
    if (size_t(id) >= has_plain_.size() || has_plain_[size_t(id)]) return;
    has_plain_[size_t(id)] = true;
    const bool flat = flat_[size_t(id)] != kNoValue;
    Attributes attributes;
    attributes.Set("perm", flat ? kFlatToPlain : kToPlain);
    attributes.Set("mete_layout", int64_t{1});
    graph_.AddNode("Transpose", "layout.to_plain." + graph_.value(id).name,
                   {flat ? flat_[size_t(id)] : twin_[size_t(id)]}, {id}, std::move(attributes));
  }

  void Emit(Node node) {
    for (ValueId& id : node.outputs)
      if (id != kNoValue) id = AddTwin(id);
    graph_.nodes.push_back(std::move(node));
    changed_ = true;
  }

  bool Likes(Node& node) {
    if (!IsRank4(node.input(0)) || !graph_.value(node.inputs[0]).shape.known()) return false;
    const DType type = graph_.value(node.inputs[0]).type;
    if (type != DType::kF32 && type != DType::kU8 && type != DType::kI8) return false;
    if (node.outputs.size() > 1)
      for (size_t i = 1; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNoValue) return false;  // MaxPool's indices refer to the plain order
    node.inputs[0] = Twin(node.inputs[0]);
    if (node.attributes.Has("residual")) node.inputs.back() = Twin(node.inputs.back());
    node.attributes.Set("layout", std::string("NHWC"));
    Emit(std::move(node));
    return true;
  }

  // Converts an operator that works in any order, or whose axes can be renamed. Returns false for others.
  bool Follow(Node& node) {
    switch (TraitsOf(node.op).orders) {
      case Orders::kPlain:
      case Orders::kChannelsLast: return false;
      case Orders::kAny: return FollowElementwise(node);
      case Orders::kAxis: return FollowAxis(node);
      case Orders::kReducedAxes: return FollowReduce(node);
      case Orders::kSlicedAxes: return FollowSlice(node);
      case Orders::kPads: return FollowPad(node);
      case Orders::kScales: return FollowResize(node);
    }
    return false;
  }

  // Returns the NHWC form of a value that is broadcast to a 4-D value, or kNoValue if it would need a
  // Transpose at run time.
  ValueId Aligned(ValueId id) {
    if (IsRank4(id)) return Twin(id);
    const Shape& s = ShapeOf(id);
    if (!s.known() || s.rank() > 4) return kNoValue;
    if (s.Elements() == 1) return id;
    if (!IsConstant(graph_, id)) return kNoValue;
    Shape padded;
    for (int i = s.rank(); i < 4; ++i) padded.push_back(1);
    for (int64_t d : s) padded.push_back(d);
    const Tensor& t = graph_.value(id).constant;
    const Tensor wide(t.type(), padded, t.data(), std::make_shared<Tensor>(t));
    const ValueId aligned = graph_.AddConstant(graph_.value(id).name + ".nhwc", Permuted(wide, kNchwToNhwc));
    Grow();
    return aligned;
  }

  bool FollowElementwise(Node& node) {
    // Inputs of one element, such as the bounds of a Clip, do not change. Other inputs must be 4-D or
    // constant.
    const bool first_alone = TraitsOf(node.op).kind == OpKind::kElementwiseFirst;
    for (ValueId id : node.inputs)
      if (id != kNoValue && !IsRank4(id) && !IsConstant(graph_, id) &&
          !(ShapeOf(id).known() && ShapeOf(id).Elements() == 1))
        return false;
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) {
      if (first_alone && !inputs.empty()) {
        inputs.push_back(id);
        continue;
      }
      const ValueId aligned = id == kNoValue ? kNoValue : Aligned(id);
      if (id != kNoValue && aligned == kNoValue) return false;
      inputs.push_back(aligned);
    }
    node.inputs = std::move(inputs);
    Emit(std::move(node));
    return true;
  }

  // Inputs of another rank, such as the sizes of a Split, do not change.
  bool FollowAxis(Node& node) {
    const auto known = [&](ValueId id) { return id == kNoValue || ShapeOf(id).known(); };
    if (!std::all_of(node.inputs.begin(), node.inputs.end(), known)) return false;
    for (ValueId& id : node.inputs)
      if (IsRank4(id)) id = Twin(id);
    const int64_t axis = node.attributes.Int("axis", TraitsOf(node.op).axis);
    node.attributes.Set("axis", int64_t{kToNhwcAxis[axis < 0 ? axis + 4 : axis]});
    Emit(std::move(node));
    return true;
  }

  ValueId RenamedAxes(const Node& node, const Ints& axes) {
    Ints renamed;
    for (int64_t a : axes) renamed.push_back(kToNhwcAxis[a < 0 ? a + 4 : a]);
    const ValueId id = AddInts(graph_, node.name + ".axes", renamed);
    Grow();
    return id;
  }

  bool FollowSlice(Node& node) {
    Ints axes;
    if (node.input(3) != kNoValue) {
      const auto given = IntsOf(graph_, node.inputs[3]);
      if (!given) return false;
      axes = *given;
    } else {
      const auto starts = IntsOf(graph_, node.input(1));
      if (!starts) return false;
      for (size_t i = 0; i < starts->size(); ++i) axes.push_back(int64_t(i));
    }
    node.inputs.resize(std::max<size_t>(node.inputs.size(), 4), kNoValue);
    node.inputs[3] = RenamedAxes(node, axes);
    node.inputs[0] = Twin(node.inputs[0]);
    Emit(std::move(node));
    return true;
  }

  bool FollowPad(Node& node) {
    const auto pads = IntsOf(graph_, node.input(1));
    if (!pads || node.input(3) != kNoValue || pads->size() != 8) return false;
    Ints renamed(8);
    for (int a = 0; a < 4; ++a)
      for (int half = 0; half < 2; ++half)
        renamed[size_t(half * 4 + kToNhwcAxis[a])] = (*pads)[size_t(half * 4 + a)];
    node.inputs[1] = AddInts(graph_, node.name + ".pads", renamed);
    Grow();
    node.inputs[0] = Twin(node.inputs[0]);
    Emit(std::move(node));
    return true;
  }

  // A Resize has its roi, scales and sizes in the order of attribute `axes`, or without it in memory order,
  // one for each dimension.
  bool FollowResize(Node& node) {
    if (node.input(1) != kNoValue) return false;
    if (node.attributes.Has("axes")) {
      Ints axes = node.attributes.IntList("axes");
      for (int64_t& axis : axes) axis = kToNhwcAxis[axis < 0 ? axis + 4 : axis];
      node.attributes.Set("axes", std::move(axes));
      node.inputs[0] = Twin(node.inputs[0]);
      Emit(std::move(node));
      return true;
    }
    for (size_t i : {size_t(2), size_t(3)}) {
      const ValueId id = node.input(i);
      if (id != kNoValue && (!IsConstant(graph_, id) || graph_.value(id).constant.elements() != 4))
        return false;
    }
    for (size_t i : {size_t(2), size_t(3)}) {
      if (node.input(i) == kNoValue) continue;
      const Tensor& t = graph_.value(node.inputs[i]).constant;
      Tensor renamed(t.type(), t.shape());
      const size_t size = SizeOf(t.type());
      for (int a = 0; a < 4; ++a)
        std::copy_n(static_cast<const std::byte*>(t.data()) + size_t(a) * size, size,
                    static_cast<std::byte*>(renamed.mutable_view().data) + size_t(kToNhwcAxis[a]) * size);
      node.inputs[i] = graph_.AddConstant(node.name + ".nhwc" + std::to_string(i), std::move(renamed));
      Grow();
    }
    node.inputs[0] = Twin(node.inputs[0]);
    Emit(std::move(node));
    return true;
  }

  bool FollowReduce(Node& node) {
    const auto axes = IntsOf(graph_, node.input(1));
    if (!axes || axes->empty() || node.attributes.Int("keepdims", 1) != 1) return false;
    node.inputs[1] = RenamedAxes(node, *axes);
    node.inputs[0] = Twin(node.inputs[0]);
    Emit(std::move(node));
    return true;
  }

  // A reduction over H and W that drops these axes gives N x C in both layouts.
  bool Reduces(Node& node) {
    if (TraitsOf(node.op).orders != Orders::kReducedAxes || !IsRank4(node.inputs[0]) ||
        node.attributes.Int("keepdims", 1) != 0)
      return false;
    const auto axes = IntsOf(graph_, node.input(1));
    if (!axes || axes->size() != 2) return false;
    Ints sorted = *axes;
    for (int64_t& a : sorted) a = a < 0 ? a + 4 : a;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != Ints{2, 3}) return false;
    node.inputs[1] = RenamedAxes(node, *axes);
    node.inputs[0] = Twin(node.inputs[0]);
    has_plain_[size_t(node.outputs[0])] = true;
    graph_.nodes.push_back(std::move(node));
    changed_ = true;
    return true;
  }

  // Converts the head of a YOLO: Reshape to N,A,F,H,W - Transpose to N,A,H,W,F, where each of A boxes has its
  // F features side by side, as they are in NHWC.
  bool Anchors(std::vector<Node>& nodes, size_t n) {
    const int t = nodes[n].op == "Reshape" ? NextOf(nodes, n, "Transpose") : -1;
    if (t < 0 || nodes[size_t(t)].attributes.IntList("perm") != Ints{0, 1, 3, 4, 2}) return false;
    const Shape in = ShapeOf(nodes[n].inputs[0]), wide = ShapeOf(nodes[n].outputs[0]);
    if (in.rank() != 4 || wide[0] != in[0] || wide[1] * wide[2] != in[1] || wide[3] != in[2] ||
        wide[4] != in[3])
      return false;
    const int64_t pixels = in[2] * in[3];
    const std::string& name = nodes[size_t(t)].name;
    const ValueId out = nodes[size_t(t)].outputs[0];
    const ValueId boxes =
        ReshapeTo(nodes[n].name, Twin(nodes[n].inputs[0]), {in[0], pixels, wide[1], wide[2]});
    const ValueId moved =
        graph_.AddValue(name + ".nhwc", graph_.value(boxes).type, {in[0], wide[1], pixels, wide[2]});
    Attributes attributes;
    attributes.Set("perm", Ints{0, 2, 1, 3});
    graph_.AddNode("Transpose", name, {boxes}, {moved}, std::move(attributes));
    const ValueId shape = AddInts(graph_, name + ".shape", Ints{in[0], wide[1], in[2], in[3], wide[2]});
    Grow();
    graph_.AddNode("Reshape", name + ".boxes", {moved, shape}, {out});
    has_plain_[size_t(out)] = true;
    nodes[size_t(t)].op.clear();
    return changed_ = true;
  }

  // A Reshape of N x C x H x W to N x C x P: the flat twin is a Reshape of the twin.
  bool Flattens(Node& node) {
    if (node.op != "Reshape" || !IsRank4(node.inputs[0])) return false;
    const Shape in = ShapeOf(node.inputs[0]), out = ShapeOf(node.outputs[0]);
    if (!out.known() || out.rank() != 3 || out[0] != in[0] || out[1] != in[1] || in.Elements() == 0)
      return false;
    const ValueId flat = ReshapeTo(node.name, Twin(node.inputs[0]), {out[0], out[2], out[1]});
    flat_[size_t(node.outputs[0])] = flat;
    return changed_ = true;
  }

  // Returns whether all inputs have flat twins, or one element.
  bool AllFlat(const Node& node) const {
    const auto has = [&](ValueId id) { return size_t(id) < flat_.size() && flat_[size_t(id)] != kNoValue; };
    const auto fits = [&](ValueId id) {
      return id != kNoValue && (has(id) || (ShapeOf(id).known() && ShapeOf(id).Elements() == 1));
    };
    return std::all_of(node.inputs.begin(), node.inputs.end(), fits) &&
           std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId id) { return id != kNoValue && has(id); });
  }

  // Converts an element-wise operator or a Concat of lines of pixels. Returns false for others.
  bool FollowFlat(Node& node) {
    const Shape out = ShapeOf(node.outputs[0]);
    const bool concat = node.op == "Concat";
    if (node.outputs.size() != 1 || !out.known() || out.rank() != 3 ||
        (!concat && TraitsOf(node.op).orders != Orders::kAny))
      return false;
    if (concat) {
      const int64_t axis = node.attributes.Int("axis", 0);
      node.attributes.Set("axis", kFlatToPlain[size_t(axis < 0 ? axis + 3 : axis)]);
    }
    for (ValueId& id : node.inputs)
      if (flat_[size_t(id)] != kNoValue) id = flat_[size_t(id)];
    const ValueId plain = node.outputs[0];
    node.outputs[0] = graph_.AddValue(graph_.value(plain).name + ".flat", graph_.value(plain).type,
                                      {out[0], out[2], out[1]});
    Grow();
    flat_[size_t(plain)] = node.outputs[0];
    graph_.nodes.push_back(std::move(node));
    return changed_ = true;
  }

  // Converts ShuffleNet's channel shuffle as one group: Reshape to N,g,C/g,H,W - Transpose 0,2,1,3,4 -
  // Reshape to N,C,H,W. In NHWC the Transpose swaps the last two dimensions of N,H,W,g,C/g.
  bool Shuffle(std::vector<Node>& nodes, size_t n) {
    const int t = nodes[n].op == "Reshape" ? NextOf(nodes, n, "Transpose") : -1;
    const int last = t < 0 ? -1 : NextOf(nodes, size_t(t), "Reshape");
    if (last < 0 || nodes[size_t(t)].attributes.IntList("perm") != Ints{0, 2, 1, 3, 4}) return false;
    const Shape in = ShapeOf(nodes[n].inputs[0]), wide = ShapeOf(nodes[n].outputs[0]);
    if (in.rank() != 4 || wide.rank() != 5 || wide[0] != in[0] || wide[1] * wide[2] != in[1] ||
        wide[3] != in[2] || wide[4] != in[3])
      return false;
    if (ShapeOf(nodes[size_t(last)].outputs[0]) != in) return false;
    const Shape split{in[0], in[2], in[3], wide[1], wide[2]}, swapped{in[0], in[2], in[3], wide[2], wide[1]};
    const ValueId a = ReshapeTo(nodes[n].name, Twin(nodes[n].inputs[0]), split);
    const ValueId b = graph_.AddValue(nodes[size_t(t)].name + ".nhwc", graph_.value(a).type, swapped);
    Attributes attributes;
    attributes.Set("perm", Ints{0, 1, 2, 4, 3});
    graph_.AddNode("Transpose", nodes[size_t(t)].name, {a}, {b}, std::move(attributes));
    const ValueId shape =
        AddInts(graph_, nodes[size_t(last)].name + ".shape", Ints{in[0], in[2], in[3], in[1]});
    Grow();
    const ValueId twin = AddTwin(nodes[size_t(last)].outputs[0]);
    graph_.AddNode("Reshape", nodes[size_t(last)].name, {b, shape}, {twin});
    nodes[size_t(t)].op.clear();
    nodes[size_t(last)].op.clear();
    return changed_ = true;
  }

  // Returns the only reader of node n's output if it has operator `op`, and -1 otherwise.
  int NextOf(const std::vector<Node>& nodes, size_t n, std::string_view op) const {
    const ValueId out = nodes[n].outputs[0];
    if (!uses_.OnlyReader(out) || !ShapeOf(out).known()) return -1;
    const int next = uses_.readers[size_t(out)][0];
    return nodes[size_t(next)].op == op ? next : -1;
  }

  ValueId ReshapeTo(const std::string& name, ValueId from, const Shape& shape) {
    const ValueId dims = AddInts(graph_, name + ".shape", Ints(shape.begin(), shape.end()));
    const ValueId to = graph_.AddValue(name + ".nhwc", graph_.value(from).type, shape);
    Grow();
    graph_.AddNode("Reshape", name, {from, dims}, {to});
    return to;
  }

  Graph& graph_;
  const Uses uses_;
  std::vector<ValueId> twin_;    // per plain value: its NHWC twin
  std::vector<ValueId> flat_;    // per plain value N x C x P: its flat twin N x P x C
  std::vector<bool> has_plain_;  // per value: true if an emitted node, input or constant has its plain form
  bool changed_ = false;
};

}  // namespace

bool ToNhwc(Graph& graph) { return LayoutPass(graph).Run(); }

}  // namespace mete
