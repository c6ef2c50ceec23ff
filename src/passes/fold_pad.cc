// Folds a zero Pad of the spatial dimensions into the Conv or QLinearConv that follows it. A Slice that cuts
// borders off the convolution's output takes padding away again.
#include "base/window.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// Returns a byte that is constant, with a sign or without; nothing for other values.
std::optional<int> ByteOf(const Graph& graph, ValueId id) {
  if (!IsConstant(graph, id)) return std::nullopt;
  const Tensor& t = graph.value(id).constant;
  if (t.elements() != 1 || SizeOf(t.type()) != 1) return std::nullopt;
  return t.type() == DType::kI8 ? *t.as<int8_t>() : *t.as<uint8_t>();
}

// Returns whether a Pad adds what the convolution behind it takes for 0. Of bytes it is the zero point.
bool AddsZeros(const Graph& graph, const Node& pad, const Node& conv) {
  const ValueId value = pad.input(2);
  if (conv.op == "Conv") return value == kNoValue || ScalarOf(graph, value) == 0.0;
  const auto zero = ByteOf(graph, conv.inputs[2]);
  return zero && (value == kNoValue ? 0 : ByteOf(graph, value)) == zero;
}

// Returns the spatial pads of a Pad node, all begins and then all ends, or nothing unless the node only adds
// elements to spatial dimensions.
std::optional<Ints> SpatialPads(const Graph& graph, const Node& pad) {
  if (pad.attributes.String("mode", "constant") != "constant" || pad.input(3) != kNoValue)
    return std::nullopt;
  const auto pads = IntsOf(graph, pad.input(1));
  const int rank = graph.value(pad.inputs[0]).shape.rank();
  if (!pads || rank < 3 || int(pads->size()) != 2 * rank) return std::nullopt;
  Ints spatial;
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < rank; ++i) {
      const int64_t p = (*pads)[size_t(half * rank + i)];
      if (p < 0 || (i < 2 && p != 0)) return std::nullopt;
      if (i >= 2) spatial.push_back(p);
    }
  return spatial;
}

// Returns how much a Slice cuts off an image's borders, all begins and then all ends, as pads have them.
std::optional<Ints> Borders(const Graph& graph, const Node& slice) {
  const auto starts = IntsOf(graph, slice.input(1)), ends = IntsOf(graph, slice.input(2)),
             axes = IntsOf(graph, slice.input(3));
  const Shape& in = graph.value(slice.inputs[0]).shape;
  if (!starts || !ends || !axes || !in.known() || slice.input(4) != kNoValue) return std::nullopt;
  Ints borders(size_t(std::max(in.rank() - 2, 0)) * 2);
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = (*axes)[i], start = (*starts)[i];
    if (axis < 2 || axis >= in.rank() || start < 0) return std::nullopt;
    const int64_t end = std::min((*ends)[i], in[int(axis)]);
    if (end <= start) return std::nullopt;
    borders[size_t(axis - 2)] = start;
    borders[size_t(axis - 2) + borders.size() / 2] = in[int(axis)] - end;
  }
  return borders;
}

// Takes the padding away whose outputs a Slice cuts off. Each of them reads the padding of its own, so that a
// stride of one is needed.
void TakeBorders(Graph& graph, const Uses& uses, Node& conv) {
  const Ints& strides = conv.attributes.IntList("strides");
  const ValueId y = conv.outputs[0];
  if (!uses.OnlyReader(y) || std::any_of(strides.begin(), strides.end(), [](int64_t s) { return s != 1; }))
    return;
  const Node& slice = graph.nodes[size_t(uses.readers[size_t(y)][0])];
  if (slice.op != "Slice" || slice.inputs[0] != y) return;
  const auto borders = Borders(graph, slice);
  Ints pads = conv.attributes.IntList("pads");
  if (!borders || borders->size() != pads.size()) return;
  for (size_t i = 0; i < pads.size(); ++i)
    if ((pads[i] -= (*borders)[i]) < 0) return;
  conv.attributes.Set("pads", pads);
  graph.value(y).shape = graph.value(slice.outputs[0]).shape;
  ReplaceUses(graph, slice.outputs[0], y);
}

}  // namespace

bool FoldPad(Graph& graph) {
  const Uses uses(graph);
  bool changed = false;
  for (Node& node : graph.nodes) {
    if (!IsOneOf(node.op, {"Conv", "QLinearConv"})) continue;
    const int producer = uses.producer[size_t(node.inputs[0])];
    if (producer < 0 || graph.nodes[size_t(producer)].op != "Pad") continue;
    const Node& pad = graph.nodes[size_t(producer)];
    const auto extra = SpatialPads(graph, pad);
    if (!extra || !AddsZeros(graph, pad, node)) continue;
    auto pads = StatedPads(node.attributes, extra->size() / 2);
    if (!pads) continue;
    for (size_t i = 0; i < pads->size(); ++i) (*pads)[i] += (*extra)[i];
    node.attributes.Set("pads", *pads);
    node.attributes.Erase("auto_pad");
    node.inputs[0] = pad.inputs[0];
    TakeBorders(graph, uses, node);
    changed = true;
  }
  return changed;
}

}  // namespace mete
