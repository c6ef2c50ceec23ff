#include "dispatch/convolutions.h"

#include <algorithm>

#include "base/fused.h"
#include "base/window.h"
#include "dispatch/activations.h"
#include "dispatch/reason.h"
#include "graph/fused.h"
#include "kernels/fast/conv/window.h"

namespace mete {
namespace {

// The kernel for sums in pieces has no epilogue.
int64_t SumPiece(const Node& node) {
  if (node.attributes.Has("residual") || FastActivation(node)->op != FusedOp::kNone) return 0;
  return node.attributes.Int(kSumPiece, 0);
}

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
  if (!IsNhwc(node.attributes)) return No("not in NHWC", why);
  if (!IsF32(graph, node.inputs[0])) return No("not f32", why);
  if (!IsF32(graph, node.inputs[1]) || !IsConstant(graph, node.inputs[1]))
    return No("weights are not constant", why);
  if (node.input(2) != kNoValue && !IsConstant(graph, node.inputs[2]))
    return No("the bias is not constant", why);
  const Shape& y = graph.value(node.outputs[0]).shape;
  if (y.Elements() == 0) return No("nothing to compute", why);
  if (!FastActivation(node)) return No("the activation has no fast form", why);
  Convolution conv{
      ConvShapeOf(graph.value(node.inputs[0]).shape, graph.value(node.inputs[1]).shape, y, node.attributes),
      SumPiece(node)};
  if (conv.sum_piece == 0) conv.algorithms = AlgorithmsFor(conv.shape, options, OperandsOf(node));
  return conv;
}

}  // namespace mete
