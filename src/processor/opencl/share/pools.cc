#include "base/window.h"
#include "dispatch/pools.h"
#include "kernels/fast/conv/window.h"
#include "processor/opencl/kernels/window.h"
#include "processor/opencl/share/families.h"

namespace mete::opencl {
namespace {

// A pool over whole images has a window of their size.
PoolShape OverImages(const Pooling& pooling, const Shape& x) {
  PoolShape shape;
  shape.kind = pooling.kind;
  ConvShape& s = shape.window;
  s.batch = x[0];
  s.in_height = s.kernel_height = x[1];
  s.in_width = s.kernel_width = x[2];
  s.in_channels = s.out_channels = s.groups = x[3];
  return shape;
}

}  // namespace

std::string LowerPool(Lowering& to, const Node& node) {
  std::string why;
  const auto pooling = PoolingOf(to.graph(), node, &why);
  if (!pooling) return why;
  const Array output = to.Of(node.outputs[0]), input = to.As(to.Of(node.inputs[0]), output.type);
  const PoolShape shape = pooling->whole_image ? OverImages(*pooling, input.shape) : pooling->shape;
  to.Launch(PoolKernel(shape, output.type, to.vector()), {input, output});
  return "";
}

}  // namespace mete::opencl
