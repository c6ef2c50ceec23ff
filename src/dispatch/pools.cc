#include "dispatch/pools.h"

#include "base/window.h"
#include "dispatch/reason.h"
#include "kernels/fast/conv/window.h"

namespace mete {

std::optional<PoolShape> PoolShapeOf(const Graph& graph, const Node& node, std::string* why) {
  const Ints& kernel = node.attributes.IntList("kernel_shape");
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape;
  PoolShape shape;
  shape.window = WindowOf(x, y, node.attributes, kernel[0], kernel[1]);
  shape.count_include_pad =
      node.attributes.Int("count_include_pad", 0) != 0 || node.attributes.Int("mete_caffe", 0) != 0;
  const auto pads = StatedPads(node.attributes, 2);
  if (shape.count_include_pad && !pads) return No("padding counts and is automatic", why);
  if (pads) {
    shape.pad_bottom = (*pads)[2];
    shape.pad_right = (*pads)[3];
  }
  return shape;
}

std::optional<Pooling> PoolingOf(const Graph& graph, const Node& node, std::string* why) {
  if (!IsNhwc(node.attributes)) return No(WhyNotNhwc(graph.value(node.inputs[0]).shape.rank()), why);
  if (!IsF32(graph, node.inputs[0]) || graph.value(node.inputs[0]).shape.Elements() == 0)
    return No("not f32, or empty", why);
  if (node.output(1) != kNoValue) return No("the indices are wanted", why);
  Pooling pooling;
  pooling.kind = node.op == "MaxPool" || node.op == "GlobalMaxPool" ? PoolKind::kMax : PoolKind::kAverage;
  pooling.whole_image = node.op == "GlobalMaxPool" || node.op == "GlobalAveragePool";
  if (pooling.whole_image) return pooling;
  auto shape = PoolShapeOf(graph, node, why);
  if (!shape) return std::nullopt;
  shape->kind = pooling.kind;
  pooling.shape = *shape;
  return pooling;
}

}  // namespace mete
