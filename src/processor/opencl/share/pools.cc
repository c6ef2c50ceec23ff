#include "base/window.h"
#include "dispatch/pools.h"
#include "processor/opencl/kernels/window.h"
#include "processor/opencl/share/families.h"
#include "processor/opencl/share/reductions.h"

namespace mete::opencl {

namespace {

// Returns the pool with padding in numbers, where padding that counts in averages is automatic.
Node WithPads(const Graph& graph, const Node& node) {
  Node pool = node;
  const bool is_automatic = node.attributes.String("auto_pad", "NOTSET").starts_with("SAME");
  if (!is_automatic || !node.attributes.Int("count_include_pad", 0)) return pool;
  Window window;
  (void)ResolveWindow(node.attributes,
                      ImageDimsOf(graph.value(node.inputs[0]).shape, OrderOf(node.attributes)),
                      node.attributes.IntList("kernel_shape"), WindowKind::kPool, window);
  pool.attributes.Erase("auto_pad");
  pool.attributes.Set("pads", Ints{window[1].pad, window[2].pad, window[1].pad_end, window[2].pad_end});
  return pool;
}

}  // namespace

std::string LowerPool(Lowering& to, const Node& node) {
  std::string why;
  if (!IsNhwc(node.attributes)) return "not in NHWC";
  if (!IsF32(to.graph(), node.inputs[0]) && node.op == "MaxPool") return LowerBytePool(to, node);
  const auto pooling = PoolingOf(to.graph(), WithPads(to.graph(), node), &why);
  if (!pooling) return why;
  const Array output = to.Of(node.outputs[0]), input = to.Of(node.inputs[0]);
  if (pooling->whole_image) {
    const bool most = pooling->kind == PoolKind::kMax;
    LaunchReduce(to, most ? ReduceFunction::kMax : ReduceFunction::kMean, {1, 2}, input, output);
  } else {
    to.Launch(PoolKernel(pooling->shape, output.type, to.vector()), {to.As(input, output.type), output});
  }
  return "";
}

}  // namespace mete::opencl
