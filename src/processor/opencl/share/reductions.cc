#include "processor/opencl/share/reductions.h"

#include "dispatch/reductions.h"
#include "processor/opencl/share/families.h"

namespace mete::opencl {
namespace {

ReduceSpec SpecOf(ReduceFunction function, const Array& input, const Array& output) {
  return {.function = function,
          .sizes = {input.shape.begin(), input.shape.end()},
          .reduced = std::vector<bool>(size_t(input.shape.rank()), false),
          .input = input.type,
          .output = output.type};
}

}  // namespace

void LaunchReduce(Lowering& to, ReduceFunction function, const std::vector<int>& axes, const Array& input,
                  const Array& output) {
  ReduceSpec spec = SpecOf(function, input, output);
  for (int axis : axes) spec.reduced[size_t(axis)] = true;
  to.Launch(ReduceKernel(spec, ChooseReduceTile(spec, to.device().is_cpu, to.vector())), {input, output});
}

std::string LowerReduce(Lowering& to, const Node& node) {
  if (!AreF32(to.graph(), node, {0})) return "not f32";
  const Array input = to.Of(node.inputs[0]), output = to.Of(node.outputs[0]);
  if (input.shape.rank() == 0) return "the input is a scalar";
  Ints list;
  if (node.input(1) != kNoValue) {
    const auto given = ListOf(to.graph(), node.inputs[1]);
    if (!given) return "the axes are computed";
    list = *given;
  }
  std::vector<int> axes;
  for (int64_t axis : list) axes.push_back(AxisOf(axis, input.shape));
  if (list.empty() && node.attributes.Int("noop_with_empty_axes", 0)) return "nothing is reduced";
  for (int i = 0; list.empty() && i < input.shape.rank(); ++i) axes.push_back(i);
  LaunchReduce(to, ReduceFunctionOf(node.op), axes, input, output);
  return "";
}

std::string LowerArg(Lowering& to, const Node& node) {
  if (!AreF32(to.graph(), node, {0})) return "not f32";
  const Array input = to.Of(node.inputs[0]), output = to.Of(node.outputs[0]);
  if (input.shape.rank() == 0) return "the input is a scalar";
  ReduceSpec spec = SpecOf(node.op == "ArgMax" ? ReduceFunction::kMax : ReduceFunction::kMin, input, output);
  spec.reduced[size_t(AxisOf(node.attributes.Int("axis", 0), input.shape))] = true;
  const int lanes = ChooseReduceTile(spec, to.device().is_cpu, to.vector()).lanes;
  to.Launch(ArgKernel(spec, lanes, node.attributes.Int("select_last_index", 0) != 0), {input, output});
  return "";
}

}  // namespace mete::opencl
