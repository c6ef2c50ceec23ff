#include "dispatch/resize_shape.h"
#include "dispatch/rows.h"
#include "processor/opencl/kernels/lrn.h"
#include "processor/opencl/kernels/resize.h"
#include "processor/opencl/share/families.h"

namespace mete::opencl {
namespace {

Array TableOf(Lowering& to, const std::vector<ResizeSource>& sources) {
  const std::vector<int32_t> table = ResizeTable(sources);
  return to.Constant(Tensor::Of<int32_t>(DType::kI32, {int64_t(table.size())}, table));
}

}  // namespace

std::string LowerResize(Lowering& to, const Node& node) {
  std::string why;
  const auto shape = ResizeShapeOf(to.graph(), node, &why);
  if (!shape) return why;
  const Array output = to.Of(node.outputs[0]), input = to.As(to.Of(node.inputs[0]), output.type);
  to.Launch(ResizeKernel(*shape, output.type, to.vector()),
            {input, TableOf(to, shape->rows), TableOf(to, shape->columns), output});
  return "";
}

std::string LowerLrn(Lowering& to, const Node& node) {
  std::string why;
  const auto lrn = LrnOf(to.graph(), node, &why);
  if (!lrn) return why;
  const Array output = to.Of(node.outputs[0]), input = to.As(to.Of(node.inputs[0]), output.type);
  to.Launch(LrnKernel(lrn->shape, lrn->pixels, output.type, to.vector()), {input, output});
  return "";
}

}  // namespace mete::opencl
