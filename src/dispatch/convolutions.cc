#include "dispatch/convolutions.h"

#include <algorithm>

#include "base/fused.h"
#include "base/window.h"
#include "dispatch/activations.h"
#include "dispatch/reason.h"
#include "graph/fused.h"
#include "kernels/fast/conv/window.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "kernels/fast/half/half_conv.h"

namespace mete {
namespace {

// The kernel for sums in pieces has no epilogue.
int64_t SumPiece(const Node& node) {
  if (node.attributes.Has("residual") || FastActivation(node)->op != FusedOp::kNone) return 0;
  return node.attributes.Int(kSumPiece, 0);
}

// Returns why no kernel for images takes the operands of a convolution, null if one does.
const char* WhyNotFast(const Graph& graph, const Node& node) {
  if (!IsNhwc(node.attributes)) return WhyNotNhwc(graph.value(node.inputs[0]).shape.rank());
  if (!IsF32(graph, node.inputs[0])) return "not f32";
  if (!IsF32(graph, node.inputs[1]) || !IsConstant(graph, node.inputs[1])) return "weights are not constant";
  if (node.input(2) != kNoValue && !IsConstant(graph, node.inputs[2])) return "the bias is not constant";
  if (graph.value(node.outputs[0]).shape.Elements() == 0) return "nothing to compute";
  if (!FastActivation(node)) return "the activation has no fast form";
  return nullptr;
}

// The most phases of a transposed convolution, each of which has a plan. A guess: the longest strides of
// known networks are 32 in both dimensions.
constexpr int64_t kMostPhases = 1024;

}  // namespace

std::vector<ConvAlgorithm> AlgorithmsFor(const ConvShape& shape, const DispatchOptions& options,
                                         Precision operands) {
  std::vector<ConvAlgorithm> possible = ConvAlgorithmsFor(shape, operands);
  if (options.conv) {
    const bool fits = std::find(possible.begin(), possible.end(), *options.conv) != possible.end();
    return {fits ? *options.conv : ConvAlgorithm::kDirect};
  }
  if (options.least_exact) {
    const bool rounds = OperandsOf(possible.back()) != Precision::kF32;  // halves are the last ones
    return {rounds ? possible.back() : ConvAlgorithm::kDirect};
  }
  if (options.plain_sums) return {ConvAlgorithm::kDirect};
  std::erase(possible, ConvAlgorithm::kWinogradF6);
  return possible;
}

std::vector<std::string> Convolution::kernels() const {
  if (sum_piece > 0) return {"conv_pieces_f32"};
  std::vector<std::string> names;
  for (const ConvAlgorithm algorithm : algorithms) names.push_back(KernelName(shape, algorithm));
  return names;
}

std::optional<Convolution> ConvolutionOf(const Graph& graph, const Node& node, const DispatchOptions& options,
                                         std::string* why) {
  if (const char* reason = WhyNotFast(graph, node)) return No(reason, why);
  const Shape& y = graph.value(node.outputs[0]).shape;
  Convolution conv{
      ConvShapeOf(graph.value(node.inputs[0]).shape, graph.value(node.inputs[1]).shape, y, node.attributes),
      SumPiece(node)};
  if (conv.sum_piece == 0) conv.algorithms = AlgorithmsFor(conv.shape, options, OperandsOf(node));
  return conv;
}

std::string TransposedConvolution::kernel() const {
  return IsDepthwise(shape) ? "transposed_depthwise_f32" : "transposed_conv_f32";
}

std::vector<std::string> TransposedConvolution::kernels() const {
  if (!IsHalf(operands) || IsDepthwise(shape)) return {kernel()};
  return {kernel(), std::string("transposed_conv_") + Name(operands)};
}

Precision PrecisionOf(const TransposedConvolution& conv) {
  // As for products of matrices (dispatch/products.cc): an input is rounded in the time of some ten
  // multiply-adds, and half of its multiply-adds are saved, of which it has one for each weight of its group.
  // This value is a guess.
  constexpr int64_t kLeast = 32;
  const ConvShape& s = conv.shape;
  const int64_t multiplied = s.out_channels / s.groups * s.kernel_height * s.kernel_width;
  const bool sooner = IsHalf(conv.operands) && !IsDepthwise(s) && multiplied >= kLeast &&
                      IsFast(PlanHalfConv(s, conv.operands));
  return sooner ? conv.operands : Precision::kF32;
}

std::optional<TransposedConvolution> TransposedConvolutionOf(const Graph& graph, const Node& node,
                                                             std::string* why) {
  if (const char* reason = WhyNotFast(graph, node)) return No(reason, why);
  const Shape &x = graph.value(node.inputs[0]).shape, &w = graph.value(node.inputs[1]).shape,
              &y = graph.value(node.outputs[0]).shape;
  Window window;
  const std::array<int64_t, 2> kernel = {w[2], w[3]};
  const std::string problem =
      ResolveTransposedWindow(node.attributes, ImageDimsOf(x, TensorOrder::kNhwc), kernel, window);
  if (!problem.empty()) return No(problem, why);
  const WindowAxis &rows = window[1], &columns = window[2];
  if (rows.stride > kMostPhases || columns.stride > kMostPhases / rows.stride)
    return No("its strides are too long", why);
  return TransposedConvolution{{.batch = x[0],
                                .in_height = x[1],
                                .in_width = x[2],
                                .in_channels = x[3],
                                .out_height = y[1],
                                .out_width = y[2],
                                .out_channels = y[3],
                                .kernel_height = w[2],
                                .kernel_width = w[3],
                                .stride_y = rows.stride,
                                .stride_x = columns.stride,
                                .dilation_y = rows.dilation,
                                .dilation_x = columns.dilation,
                                .pad_top = rows.pad,
                                .pad_left = columns.pad,
                                .groups = node.attributes.Int("group", 1)},
                               OperandsOf(node)};
}

}  // namespace mete
