// Writes a ConvTranspose as a Conv with a DepthToSpace behind it, so that the fast kernels compute it
// (transposed_convolution.h).
//
// Where an output has many channels, kernels that compute the phases one by one are faster, as they multiply
// no zeros and move nothing (kernels/fast/conv/phases.h). A phase of few channels leaves lanes of a vector
// without work, and all phases together fill them.
#include "passes/transposed_convolution.h"

#include <algorithm>
#include <cstring>

#include "base/window.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// The longest stride, in kernels. Rests without a tap are channels of zeros: at this bound 15 of 16, and with
// longer strides their memory has no limit. A guess.
constexpr int64_t kMostStride = 4;

// The most channels of an output whose phases are computed together: they fill no vector of 16 lanes alone.
// A guess, by AVX-512's lanes.
constexpr int64_t kFewChannels = 15;

bool HasConstantFloats(const Graph& graph, const Node& node) {
  return IsConstant(graph, node.inputs[1]) && IsF32(graph, node.inputs[1]) &&
         (node.input(2) == kNoValue || IsConstant(graph, node.inputs[2]));
}

// Returns the padding with which the Conv of a stride of 1 makes the output itself; nothing if it would be
// negative.
std::optional<Ints> PadsAtStrideOne(const TransposedGeometry& g) {
  if (g.stride != 1) return std::nullopt;
  Ints pads(4);
  for (int i = 0; i < 2; ++i) {
    const int64_t all = g.y[2 + i] - g.x[2 + i] + g.kernel[i] - 1, begin = g.kernel[i] - 1 - g.begin[i];
    if (begin < 0 || all < begin) return std::nullopt;
    pads[size_t(i)] = begin;
    pads[size_t(i + 2)] = all - begin;
  }
  return pads;
}

void Rewrite(Graph& graph, const Node& node, const TransposedGeometry& g) {
  const Tensor& weights = graph.value(node.inputs[1]).constant;
  std::vector<ValueId> inputs = {
      node.inputs[0],
      graph.AddConstant(node.name + ".weight", ConvWeightsOf(g, weights, Tensor(DType::kF32, Shape{})))};
  if (node.input(2) != kNoValue)
    inputs.push_back(
        graph.AddConstant(node.name + ".bias", ForEachRest(g, graph.value(node.inputs[2]).constant)));
  const ValueId y = node.outputs[0];
  const bool alone = IsConvAlone(g);
  const ValueId products = alone ? y : graph.AddValue(node.name + ".products", DType::kF32, g.products());
  graph.AddNode("Conv", node.name, std::move(inputs), {products}, ConvAttributesOf(g));
  if (!alone) AddPlacement(graph, node.name, g, products, y);
}

bool IsFasterAsConv(const TransposedGeometry& g) { return g.stride == 1 || g.channels <= kFewChannels; }

bool RewriteThose(Graph& graph, bool (*wanted)(const TransposedGeometry&)) {
  bool changed = false;
  std::vector<Node> nodes;
  std::swap(nodes, graph.nodes);
  for (Node& node : nodes) {
    const auto geometry = TransposedGeometryOf(graph, node);
    const bool rewrites = geometry && HasConstantFloats(graph, node) && wanted(*geometry);
    if (rewrites) Rewrite(graph, node, *geometry);
    else graph.nodes.push_back(std::move(node));
    changed |= rewrites;
  }
  return changed;
}

}  // namespace

std::optional<TransposedGeometry> TransposedGeometryOf(const Graph& graph, const Node& node) {
  if (node.op != "ConvTranspose" || !IsF32(graph, node.inputs[0])) return std::nullopt;
  const Shape &x = graph.value(node.inputs[0]).shape, &w = graph.value(node.inputs[1]).shape,
              &y = graph.value(node.outputs[0]).shape;
  if (!x.known() || !w.known() || !y.known() || x.rank() != 4 || x.Elements() == 0 || y.Elements() == 0)
    return std::nullopt;
  const Attributes& a = node.attributes;
  // An epilogue or another order of dimensions would be lost.
  if (a.Has("residual") || a.Has("activation") || a.Has("layout")) return std::nullopt;
  const auto both = [](const Ints& values, int64_t value) {
    return values.empty() || (values[0] == value && values[1] == value);
  };
  const Ints& strides = a.IntList("strides");
  const auto pads = StatedPads(a, 2);
  TransposedGeometry g{x, y, strides.empty() ? 1 : strides[0], w[0], w[1], {w[2], w[3]}, {}, {0, 0}};
  // Sizes that the file states, or a padding of which it states only the sum, are rare.
  if (!both(strides, g.stride) || !both(a.IntList("dilations"), 1) || a.Int("group", 1) != 1 ||
      a.Has("output_shape") || !pads)
    return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    if (g.stride > kMostStride * g.kernel[i]) return std::nullopt;
    g.taps[i] = (g.kernel[i] + g.stride - 1) / g.stride;
    g.begin[i] = (*pads)[size_t(i)];
    if (g.begin[i] < 0 || g.begin[i] + y[2 + i] > (x[2 + i] + g.taps[i] - 1) * g.stride) return std::nullopt;
  }
  return g;
}

Tensor ConvWeightsOf(const TransposedGeometry& g, const Tensor& weights, const Tensor& zeros) {
  const Shape channels{g.stride * g.stride * g.channels, g.in_channels, g.taps[0], g.taps[1]};
  Tensor to(weights.type(), channels);
  const size_t bytes = SizeOf(weights.type());
  const auto *from = weights.as<std::byte>(), *zero = zeros.as<std::byte>();
  auto* out = to.mutable_view().as<std::byte>();
  for (int64_t rest = 0; rest < g.stride * g.stride; ++rest)
    for (int64_t c = 0; c < g.channels; ++c)
      for (int64_t in = 0; in < g.in_channels; ++in)
        for (int64_t i = 0; i < g.taps[0]; ++i)
          for (int64_t j = 0; j < g.taps[1]; ++j, out += bytes) {
            const int64_t row = rest / g.stride + (g.taps[0] - 1 - i) * g.stride;
            const int64_t column = rest % g.stride + (g.taps[1] - 1 - j) * g.stride;
            const bool inside = row < g.kernel[0] && column < g.kernel[1];
            const int64_t tap = ((in * g.channels + c) * g.kernel[0] + row) * g.kernel[1] + column;
            std::memcpy(
                out,
                inside ? from + size_t(tap) * bytes : zero + (zeros.elements() == 1 ? 0 : size_t(c) * bytes),
                bytes);
          }
  return to;
}

Tensor ForEachRest(const TransposedGeometry& g, const Tensor& of_channels) {
  Tensor to(of_channels.type(), Shape{g.stride * g.stride * g.channels});
  auto* out = to.mutable_view().as<std::byte>();
  for (int64_t rest = 0; rest < g.stride * g.stride; ++rest)
    out = std::copy_n(of_channels.as<std::byte>(), of_channels.bytes(), out);
  return to;
}

bool IsConvAlone(const TransposedGeometry& g) { return PadsAtStrideOne(g).has_value(); }

Attributes ConvAttributesOf(const TransposedGeometry& g) {
  const Ints all{g.taps[0] - 1, g.taps[1] - 1, g.taps[0] - 1, g.taps[1] - 1};
  Attributes conv;
  conv.Set("kernel_shape", Ints{g.taps[0], g.taps[1]});
  conv.Set("pads", PadsAtStrideOne(g).value_or(all));
  return conv;
}

void AddPlacement(Graph& graph, const std::string& name, const TransposedGeometry& g, ValueId products,
                  ValueId y) {
  const Shape of_products = g.products();
  const Shape large{g.x[0], g.channels, of_products[2] * g.stride, of_products[3] * g.stride};
  const bool whole = large == g.y;  // nothing to remove
  const ValueId placed = whole ? y : graph.AddValue(name + ".placed", graph.value(products).type, large);
  Attributes block;
  block.Set("blocksize", g.stride);
  graph.AddNode("DepthToSpace", name + ".place", {products}, {placed}, std::move(block));
  if (whole) return;
  // The ends count from behind, so that they hold for every size of the image.
  const auto end = [&](int i) {
    const int64_t removed = large[2 + i] - g.begin[i] - g.y[2 + i];
    return removed > 0 ? -removed : INT64_MAX;
  };
  const ValueId starts = AddInts(graph, name + ".starts", Ints{g.begin[0], g.begin[1]});
  const ValueId ends = AddInts(graph, name + ".ends", Ints{end(0), end(1)});
  const ValueId axes = AddInts(graph, name + ".axes", Ints{2, 3});
  graph.AddNode("Slice", name + ".crop", {placed, starts, ends, axes}, {y});
}

bool WriteTransposedConvolutions(Graph& graph) { return RewriteThose(graph, IsFasterAsConv); }

void WriteEveryTransposedConvolution(Graph& graph) {
  if (RewriteThose(graph, [](const TransposedGeometry&) { return true; })) RemoveUnused(graph);
}

}  // namespace mete
