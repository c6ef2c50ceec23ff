#include "processor/opencl/share/rows.h"

#include <algorithm>
#include <bit>

#include "processor/opencl/share/families.h"

namespace mete::opencl {
namespace {

RowFunction FunctionOf(const Node& node) {
  if (node.op == "Softmax") return RowFunction::kSoftmax;
  if (node.op == "LogSoftmax") return RowFunction::kLogSoftmax;
  return node.op == "LayerNormalization" ? RowFunction::kLayerNorm : RowFunction::kRmsNorm;
}

// Work-items that share a row on a GPU: enough that each reads some vectors, at most those of a small
// work-group. These values are guesses.
int LanesOf(const Lowering& to, int64_t length) {
  if (to.device().is_cpu) return 1;
  const auto vectors = uint64_t(std::max<int64_t>(1, length / (2 * to.vector())));
  return int(std::min<uint64_t>(64, std::bit_floor(vectors)));
}

}  // namespace

void LaunchRows(Lowering& to, RowSpec spec, const std::vector<Array>& arguments) {
  spec.type = arguments.back().type;
  spec.rows = arguments.back().elements() / spec.length;
  to.Launch(RowKernel(spec, to.vector(), LanesOf(to, spec.length)), arguments);
}

namespace {

// Over an axis that is not the innermost one, between two transpositions.
void SoftmaxAcross(Lowering& to, const RowSpec& spec, const Array& input, const Array& output, int axis) {
  const Shape& s = output.shape;
  const Shape blocks{s.Elements(0, axis), s[axis], s.Elements(axis + 1, s.rank())};
  const Array rows = to.Transposed({input.buffer, input.type, blocks}, {0, 2, 1});
  LaunchRows(to, spec, {rows, rows});
  to.Move(rows, output,
          {.sizes = {blocks[0], blocks[1], blocks[2]},
           .inputs = {{.strides = {blocks[1] * blocks[2], 1, blocks[1]}}},
           .output = {.strides = DenseStrides(blocks)},
           .program = {}});
}

std::string LowerNorm(Lowering& to, const Node& node, int axis) {
  if (node.output(1) != kNoValue || node.output(2) != kNoValue) return "the statistics are wanted";
  if (!AreF32(to.graph(), node, {1})) return "the scale is not f32";
  const Array output = to.Of(node.outputs[0]);
  std::vector<Array> arguments{to.As(to.Of(node.inputs[0]), output.type)};
  RowSpec spec{.function = FunctionOf(node),
               .length = output.shape.Elements(axis, output.shape.rank()),
               .epsilon = node.attributes.Float("epsilon", 1e-5f),
               .scale = true,
               .shift = node.input(2) != kNoValue};
  for (size_t i = 1; i < node.inputs.size() && node.inputs[i] != kNoValue; ++i) {
    if (to.value(node.inputs[i]).shape.Elements() != spec.length) return "the scale is broadcast";
    arguments.push_back(to.As(to.Of(node.inputs[i]), DType::kF32));
  }
  arguments.push_back(output);
  LaunchRows(to, spec, arguments);
  return "";
}

// Of instances and of groups of channels, whose scale and shift are those of the channels.
std::string LowerNormOfChannels(Lowering& to, const Node& node, int64_t groups) {
  if (!AreF32(to.graph(), node, {0, 1, 2})) return "not f32";
  const Array output = to.Of(node.outputs[0]), input = to.As(to.Of(node.inputs[0]), output.type);
  const Shape& x = output.shape;
  const int64_t pixels = x.Elements(2, x.rank());
  const RowSpec spec{.function = RowFunction::kLayerNorm,
                     .length = x[1] / groups * pixels,
                     .epsilon = node.attributes.Float("epsilon", 1e-5f),
                     .scale = true,
                     .shift = true,
                     .affine_rows = groups,
                     .affine_run = pixels};
  LaunchRows(
      to, spec,
      {input, to.As(to.Of(node.inputs[1]), DType::kF32), to.As(to.Of(node.inputs[2]), DType::kF32), output});
  return "";
}

}  // namespace

std::string LowerInstanceNorm(Lowering& to, const Node& node) {
  return LowerNormOfChannels(to, node, to.value(node.inputs[0]).shape[1]);
}

std::string LowerGroupNorm(Lowering& to, const Node& node) {
  return LowerNormOfChannels(to, node, node.attributes.Int("num_groups", 1));
}

std::string LowerRows(Lowering& to, const Node& node) {
  if (!AreF32(to.graph(), node, {0})) return "not f32";
  const Shape& x = to.value(node.inputs[0]).shape;
  if (x.rank() == 0) return "the input is a scalar";
  const int axis = AxisOf(node.attributes.Int("axis", -1), x);
  const RowFunction function = FunctionOf(node);
  if (function == RowFunction::kLayerNorm || function == RowFunction::kRmsNorm)
    return LowerNorm(to, node, axis);
  const RowSpec spec{.function = function, .length = x[axis]};
  const Array output = to.Of(node.outputs[0]), input = to.As(to.Of(node.inputs[0]), output.type);
  if (x.Elements(axis + 1, x.rank()) == 1) LaunchRows(to, spec, {input, output});
  else SoftmaxAcross(to, spec, input, output, axis);
  return "";
}

}  // namespace mete::opencl
