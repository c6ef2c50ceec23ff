// Writes a ConvTranspose as a Conv with a DepthToSpace behind it, so that the fast kernels compute it.
//
// With the stride s, output position o is made of the inputs at i where o + p - i * s is a tap of the kernel
// (p: the padding at the beginning). For o + p = q * s + r these are the inputs q, q - 1, ... with the taps
// r, r + s, ...: for each of the s * s rests r of both axes a convolution at stride 1, with a window of
// kernel / s, rounded up. One Conv computes all of them as channels, DepthToSpace brings them to their
// places, and a Slice removes the padding. At stride 1 the Conv is all there is.
//
// Where an output has many channels, kernels that compute the phases one by one are faster, as they multiply
// no zeros and move nothing (kernels/fast/conv/phases.h). A phase of few channels leaves lanes of a vector
// without work, and all phases together fill them.
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

struct Geometry {
  int64_t stride;
  int64_t in_channels, channels;  // `channels` of the output
  int64_t kernel[2], taps[2];     // taps: the window of the convolution
  int64_t begin[2];               // padding
};

// Returns the geometry of a ConvTranspose that can be written as a Conv, nothing for others.
std::optional<Geometry> GeometryOf(const Graph& graph, const Node& node) {
  if (node.op != "ConvTranspose" || !IsF32(graph, node.inputs[0])) return std::nullopt;
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape;
  const bool constant = IsConstant(graph, node.inputs[1]) && IsF32(graph, node.inputs[1]) &&
                        (node.input(2) == kNoValue || IsConstant(graph, node.inputs[2]));
  if (!constant || !x.known() || !y.known() || x.rank() != 4 || x.Elements() == 0 || y.Elements() == 0)
    return std::nullopt;
  const Attributes& a = node.attributes;
  // An epilogue or another order of dimensions would be lost.
  if (a.Has("residual") || a.Has("activation") || a.Has("layout")) return std::nullopt;
  const auto both = [](const Ints& values, int64_t value) {
    return values.empty() || (values[0] == value && values[1] == value);
  };
  const Ints& strides = a.IntList("strides");
  const auto pads = StatedPads(a, 2);
  const Shape& w = graph.value(node.inputs[1]).shape;
  Geometry g{strides.empty() ? 1 : strides[0], w[0], w[1], {w[2], w[3]}, {}, {0, 0}};
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

// The weights of the Conv: output channel (row rest * s + column rest) * channels + c, as DepthToSpace reads
// them. Taps beyond the kernel are zero.
Tensor WeightsOf(const Geometry& g, const Tensor& from) {
  Tensor to(DType::kF32, Shape{g.stride * g.stride * g.channels, g.in_channels, g.taps[0], g.taps[1]});
  const float* w = from.as<float>();
  float* out = to.mutable_view().as<float>();
  for (int64_t rest = 0; rest < g.stride * g.stride; ++rest)
    for (int64_t c = 0; c < g.channels; ++c)
      for (int64_t in = 0; in < g.in_channels; ++in)
        for (int64_t i = 0; i < g.taps[0]; ++i)
          for (int64_t j = 0; j < g.taps[1]; ++j) {
            const int64_t row = rest / g.stride + (g.taps[0] - 1 - i) * g.stride;
            const int64_t column = rest % g.stride + (g.taps[1] - 1 - j) * g.stride;
            const bool inside = row < g.kernel[0] && column < g.kernel[1];
            *out++ = inside ? w[((in * g.channels + c) * g.kernel[0] + row) * g.kernel[1] + column] : 0;
          }
  return to;
}

Tensor BiasOf(const Geometry& g, const Tensor& from) {
  Tensor to(DType::kF32, Shape{g.stride * g.stride * g.channels});
  for (int64_t i = 0; i < to.elements(); ++i)
    to.mutable_view().as<float>()[i] = from.as<float>()[i % g.channels];
  return to;
}

// Returns the padding with which the Conv of a stride of 1 makes the output itself; nothing if it would be
// negative.
std::optional<Ints> PadsAtStrideOne(const Geometry& g, const Shape& x, const Shape& y) {
  if (g.stride != 1) return std::nullopt;
  Ints pads(4);
  for (int i = 0; i < 2; ++i) {
    const int64_t all = y[2 + i] - x[2 + i] + g.kernel[i] - 1, begin = g.kernel[i] - 1 - g.begin[i];
    if (begin < 0 || all < begin) return std::nullopt;
    pads[size_t(i)] = begin;
    pads[size_t(i + 2)] = all - begin;
  }
  return pads;
}

void Rewrite(Graph& graph, const Node& node, const Geometry& g) {
  const Shape x = graph.value(node.inputs[0]).shape, y = graph.value(node.outputs[0]).shape;
  std::vector<ValueId> inputs = {
      node.inputs[0],
      graph.AddConstant(node.name + ".weight", WeightsOf(g, graph.value(node.inputs[1]).constant))};
  if (node.input(2) != kNoValue)
    inputs.push_back(graph.AddConstant(node.name + ".bias", BiasOf(g, graph.value(node.inputs[2]).constant)));
  Attributes conv;
  conv.Set("kernel_shape", Ints{g.taps[0], g.taps[1]});
  if (const auto pads = PadsAtStrideOne(g, x, y)) {
    conv.Set("pads", *pads);
    graph.AddNode("Conv", node.name, std::move(inputs), {node.outputs[0]}, std::move(conv));
    return;
  }
  const Shape small{x[0], g.stride * g.stride * g.channels, x[2] + g.taps[0] - 1, x[3] + g.taps[1] - 1};
  const Shape large{x[0], g.channels, small[2] * g.stride, small[3] * g.stride};
  const bool whole = large == y;  // nothing to remove
  const ValueId products = graph.AddValue(node.name + ".products", DType::kF32, small);
  const ValueId placed = whole ? node.outputs[0] : graph.AddValue(node.name + ".placed", DType::kF32, large);
  conv.Set("pads", Ints{g.taps[0] - 1, g.taps[1] - 1, g.taps[0] - 1, g.taps[1] - 1});
  graph.AddNode("Conv", node.name, std::move(inputs), {products}, std::move(conv));
  Attributes block;
  block.Set("blocksize", g.stride);
  graph.AddNode("DepthToSpace", node.name + ".place", {products}, {placed}, std::move(block));
  if (whole) return;
  // The ends count from behind, so that they hold for every size of the image.
  const auto end = [&](int i) {
    const int64_t removed = large[2 + i] - g.begin[i] - y[2 + i];
    return removed > 0 ? -removed : INT64_MAX;
  };
  const ValueId starts = AddInts(graph, node.name + ".starts", Ints{g.begin[0], g.begin[1]});
  const ValueId ends = AddInts(graph, node.name + ".ends", Ints{end(0), end(1)});
  const ValueId axes = AddInts(graph, node.name + ".axes", Ints{2, 3});
  graph.AddNode("Slice", node.name + ".crop", {placed, starts, ends, axes}, {node.outputs[0]});
}

bool IsFasterAsConv(const Geometry& g) { return g.stride == 1 || g.channels <= kFewChannels; }

bool RewriteThose(Graph& graph, bool (*wanted)(const Geometry&)) {
  bool changed = false;
  std::vector<Node> nodes;
  std::swap(nodes, graph.nodes);
  for (Node& node : nodes) {
    const auto geometry = GeometryOf(graph, node);
    const bool rewrites = geometry && wanted(*geometry);
    if (rewrites) Rewrite(graph, node, *geometry);
    else graph.nodes.push_back(std::move(node));
    changed |= rewrites;
  }
  return changed;
}

}  // namespace

bool WriteTransposedConvolutions(Graph& graph) { return RewriteThose(graph, IsFasterAsConv); }

void WriteEveryTransposedConvolution(Graph& graph) {
  if (RewriteThose(graph, [](const Geometry&) { return true; })) RemoveUnused(graph);
}

}  // namespace mete
