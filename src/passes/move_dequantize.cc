#include <map>
#include <utility>

#include "passes/quantization.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

class Mover {
 public:
  explicit Mover(Graph& graph) : graph_(graph), uses_(graph) {}

  bool Run() {
    std::swap(nodes_, graph_.nodes);
    for (Node& node : nodes_) Visit(node);
    return changed_;
  }

 private:
  // A value that a DequantizeLinear makes.
  struct Dequantized {
    ValueId bytes;
    Quantization of;
  };

  void Visit(Node& node) {
    if (node.op.empty()) return;  // a QuantizeLinear that is before a Concat now
    if (node.op == "DequantizeLinear") {
      const auto of = QuantizationOf(graph_, node);
      if (of) dequantized_.emplace(node.outputs[0], Dequantized{node.inputs[0], *of});
    } else if (node.op == "Concat") {
      QuantizeBefore(node);
      if (MovesAll(node)) return MoveBehind(node, node.inputs.size());
    } else if (Moves(node)) {
      return MoveBehind(node, 1);
    }
    graph_.nodes.push_back(std::move(node));
  }

  const Dequantized* Find(ValueId id) const {
    const auto at = dequantized_.find(id);
    return at == dequantized_.end() ? nullptr : &at->second;
  }

  // Weights stay as they are, because products look for them behind a DequantizeLinear. A table of embeddings
  // does not: its floats would take four times the memory, of which a run reads a few rows.
  bool MayMove(const Node& node, const Dequantized& in) const {
    return node.op == "Gather" || !graph_.value(in.bytes).is_constant();
  }

  // Returns true for operators whose outputs have elements of the first input, and of no other one. A maximum
  // of bytes is the byte of the maximum, because scales are positive.
  bool Moves(Node& node) const {
    const Dequantized* in = node.inputs.empty() ? nullptr : Find(node.inputs[0]);
    if (!in || !MayMove(node, *in)) return false;
    // Pools and resizes of volumes have fast kernels of floats alone (volume_convolutions.cc).
    const bool volume = graph_.value(node.inputs[0]).shape.rank() == 5;
    if (node.op == "MaxPool") return node.output(1) == kNoValue && !volume;
    if (node.op == "Resize")
      return !volume && node.attributes.String("mode", "nearest") == "nearest" && KeepsInside(node);
    return IsOneOf(node.op, {"DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice",
                             "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"});
  }

  // Returns true if a Resize makes no elements of its own.
  static bool KeepsInside(const Node& resize) {
    return resize.attributes.String("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize";
  }

  bool MovesAll(const Node& node) const {
    const Dequantized* first = Find(node.inputs[0]);
    return first && std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
             const Dequantized* in = Find(id);
             return in && MayMove(node, *in) && in->of == first->of;
           });
  }

  // Lets the node move bytes, and dequantizes its outputs. Its first `count` inputs are dequantized ones.
  void MoveBehind(Node& node, size_t count) {
    const Quantization of = Find(node.inputs[0])->of;
    for (size_t i = 0; i < count; ++i) node.inputs[i] = Find(node.inputs[i])->bytes;
    std::vector<Node> behind;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId floats = node.outputs[i];
      if (floats == kNoValue) continue;
      const std::string number = i == 0 ? "" : std::to_string(i);
      node.outputs[i] =
          graph_.AddValue(graph_.value(floats).name + ".bytes", of.type, graph_.value(floats).shape);
      Node dequantize{node.name + ".dequantize" + number,
                      "DequantizeLinear",
                      {node.outputs[i], of.scale_id},
                      {floats},
                      {}};
      if (of.zero_id != kNoValue) dequantize.inputs.push_back(of.zero_id);
      dequantized_.emplace(floats, Dequantized{node.outputs[i], of});
      behind.push_back(std::move(dequantize));
    }
    graph_.nodes.push_back(std::move(node));
    for (Node& dequantize : behind) graph_.nodes.push_back(std::move(dequantize));
    changed_ = true;
  }

  // Quantizes the inputs of a Concat of floats if only a QuantizeLinear reads it.
  void QuantizeBefore(Node& concat) {
    const ValueId joined = concat.outputs[0];
    if (!uses_.OnlyReader(joined)) return;
    Node& quantize = nodes_[size_t(uses_.readers[size_t(joined)][0])];
    if (quantize.op != "QuantizeLinear" || !QuantizationOf(graph_, quantize)) return;
    const DType type = graph_.value(quantize.outputs[0]).type;
    for (size_t i = 0; i < concat.inputs.size(); ++i) {
      const ValueId bytes = graph_.AddValue(graph_.value(joined).name + ".part" + std::to_string(i), type,
                                            graph_.value(concat.inputs[i]).shape);
      Node part{concat.name + ".quantize" + std::to_string(i),
                "QuantizeLinear",
                quantize.inputs,
                {bytes},
                quantize.attributes};
      part.inputs[0] = std::exchange(concat.inputs[i], bytes);
      graph_.nodes.push_back(std::move(part));
    }
    concat.outputs[0] = quantize.outputs[0];
    quantize.op.clear();
    changed_ = true;
  }

  Graph& graph_;
  const Uses uses_;
  std::vector<Node> nodes_;
  std::map<ValueId, Dequantized> dequantized_;
  bool changed_ = false;
};

}  // namespace

bool MoveDequantize(Graph& graph) { return Mover(graph).Run(); }

}  // namespace mete
