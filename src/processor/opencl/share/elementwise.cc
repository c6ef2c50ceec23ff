#include <cmath>

#include "base/fused.h"
#include "base/window.h"
#include "processor/opencl/share/elementwise.h"
#include "processor/opencl/share/families.h"

namespace mete::opencl {

void LowerProgram(Lowering& to, const FusedProgram& program, const std::vector<Array>& inputs,
                  const Array& output) {
  MapSpec spec{.sizes = {output.shape.begin(), output.shape.end()},
               .inputs = {},
               .output = {.type = output.type, .strides = DenseStrides(output.shape)},
               .program = program};
  for (const Array& input : inputs)
    spec.inputs.push_back({.type = input.type, .strides = BroadcastStrides(input.shape.dims(), spec.sizes)});
  std::vector<Array> arguments = inputs;
  arguments.push_back(output);
  to.Launch(MapKernel(spec, to.vector()), arguments);
}

std::string LowerElementwise(Lowering& to, const Node& node) {
  FusedProgram program;
  if (std::string problem = ParseFusedProgram(node.attributes, int(node.inputs.size()), program);
      !problem.empty())
    return problem;
  std::vector<Array> inputs;
  for (ValueId id : node.inputs) inputs.push_back(to.Of(id));
  LowerProgram(to, program, inputs, to.Of(node.outputs[0]));
  return "";
}

// y = x * factor + shift, by channel.
std::string LowerBatchNorm(Lowering& to, const Node& node) {
  const Graph& graph = to.graph();
  if (!AreF32(graph, node, {0, 1, 2, 3, 4})) return "not f32";
  if (node.attributes.Int("training_mode", 0) || node.output(1) != kNoValue) return "it trains";
  const Shape& x = to.value(node.inputs[0]).shape;
  for (size_t i = 1; i < 5; ++i)
    if (!IsConstant(graph, node.inputs[i])) return "its statistics are not constant";
  const auto parameter = [&](size_t i) { return graph.value(node.inputs[i]).constant.as<float>(); };
  const float *scale = parameter(1), *bias = parameter(2), *mean = parameter(3), *variance = parameter(4);
  const int axis = IsNhwc(node.attributes) ? x.rank() - 1 : 1;
  Shape by_channel;
  for (int i = axis; i < x.rank(); ++i) by_channel.push_back(i == axis ? x[axis] : 1);
  Tensor factor(DType::kF32, by_channel), shift(DType::kF32, by_channel);
  for (int64_t c = 0; c < x[axis]; ++c) {
    const double f = scale[c] / std::sqrt(double{variance[c]} + node.attributes.Float("epsilon", 1e-5f));
    factor.mutable_view().as<float>()[c] = float(f);
    shift.mutable_view().as<float>()[c] = float(bias[c] - mean[c] * f);
  }
  FusedProgram program{.inputs = 3, .steps = 2, .step = {}};
  program.step[0] = {{FusedOp::kMul}, {0, 1, -1}};
  program.step[1] = {{FusedOp::kAdd}, {3, 2, -1}};
  LowerProgram(to, program, {to.Of(node.inputs[0]), to.Constant(factor), to.Constant(shift)},
               to.Of(node.outputs[0]));
  return "";
}

}  // namespace mete::opencl
