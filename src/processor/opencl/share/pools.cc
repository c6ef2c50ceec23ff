#include "dispatch/pools.h"
#include "processor/opencl/kernels/window.h"
#include "processor/opencl/share/families.h"
#include "processor/opencl/share/reductions.h"

namespace mete::opencl {

std::string LowerPool(Lowering& to, const Node& node) {
  std::string why;
  const auto pooling = PoolingOf(to.graph(), node, &why);
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
