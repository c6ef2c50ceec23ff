#include "costs/work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "costs/amounts.h"
#include "dispatch/products.h"
#include "dispatch/transposes.h"
#include "dispatch/windows.h"
#include "graph/flops.h"
#include "graph/traits.h"
#include "kernels/fast/conv/conv.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "kernels/fast/gemm/gemm.h"
#include "kernels/fast/winograd/winograd.h"

namespace mete {
namespace {

// The size of a first-level data cache: 32 to 64 KiB in cores of the last ten years. This value is a guess;
// the transition at its end is smooth anyway.
constexpr double kFirstBytes = 48 << 10;

// The sets of this cache: 64 sets (4 KiB of lines) of 8 lines in most x86 cores of the last ten years; other
// cores have more sets with fewer lines. These values are guesses: of 4 to 12 lines per set, 8 fitted
// depthwise convolutions best.
constexpr int64_t kSets = 64, kWays = 8, kLineBytes = 64;

// A tile prefetches the memory of its outputs only if its sum is at least this long (kLeastAhead of
// kernels/fast/tile).
constexpr int64_t kShortSum = 64;

struct Sizes {
  double in = 0, weights = 0, out = 0;  // bytes
};

Sizes SizesOf(const ConvShape& s) {
  const double taps = double(s.kernel_height * s.kernel_width), k = taps * double(s.in_channels / s.groups);
  const double out = double(s.out_pixels() * s.out_channels),
               in = double(s.batch * s.in_height * s.in_width * s.in_channels);
  // A stride skips pixels that no output needs.
  const double read = std::min(in, double(s.out_pixels()) * taps * double(s.in_channels));
  return {kFloatBytes * read, kFloatBytes * k * double(s.out_channels), kFloatBytes * out};
}

// A product of one row is too short for its tiles to matter. Its time depends on where its few bytes come
// from, and on whether the processor still has its code and its branch history in the caches.
Work OneRowWork(const NodeInRun& at, double weights, double in, double out) {
  Amounts a(at, "conv_1x1_f32", "one row");
  a.AddWeightsFromMemory(weights);
  a.AddNearFar("byte of weights", weights, weights);
  a.Add("byte read", in);
  a.Add("byte written", out);
  // The amount reaches 1 at half of the near cache. This value is a guess.
  a.Add("node behind much data", std::min(1.0, 2 * a.Since(at.node.inputs[0]) / at.caches.near_bytes));
  a.AddEpilogue(out);
  return a.Take();
}

Work DirectWork(const NodeInRun& at, const ConvShape& s) {
  const ConvPlan plan = PlanConv(s);
  const Sizes sizes = SizesOf(s);
  const double k = double(s.kernel_height * s.kernel_width * s.in_channels / s.groups);
  const double pixels = double(s.out_pixels()),
               weights = kFloatBytes * k * double(plan.split.padded_columns() * s.groups);
  if (plan.as_gemm && s.out_pixels() == 1) return OneRowWork(at, weights, sizes.in, sizes.out);
  Amounts a(at,
            plan.as_gemm  ? "conv_1x1_f32"
            : plan.joined ? "conv_rows_f32"
                          : "conv_f32",
            s.out_pixels() == 1 ? "one row" : "");
  a.AddTiles(plan.split, double(s.groups), pixels, double(plan.row_step), k);
  a.AddWeights(weights, plan.as_gemm ? pixels : std::min(pixels, double(plan.pass)));
  a.AddColdWeights(plan.split, weights, pixels, double(plan.row_step), k);
  a.AddData(at.node.inputs[0], sizes.in, sizes.out, plan.tap_length >= kShortSum);
  a.AddEpilogue(sizes.out);
  return a.Take();
}

// Returns how many of the cache lines of a tile's pixels and weights (for the same vector of channels) exceed
// the capacity of their sets in the first-level cache. Pixels and weights are assumed to begin in the same
// set. This is a guess, because the addresses of the buffers are not known beforehand.
double CrowdedLines(int64_t rows, int64_t columns, int64_t taps, int64_t row_bytes, int64_t pixel_bytes) {
  std::array<int64_t, kSets> lines{};
  const auto add = [&](int64_t offset) { ++lines[size_t(offset / kLineBytes % kSets)]; };
  for (int64_t y = 0; y < rows; ++y)
    for (int64_t x = 0; x < columns; ++x) add(y * row_bytes + x * pixel_bytes);
  for (int64_t t = 0; t < taps; ++t) add(t * pixel_bytes);
  int64_t crowded = 0;
  for (const int64_t n : lines) crowded += std::max<int64_t>(0, n - kWays);
  return double(crowded);
}

// Adds tiles of up to four columns and, at stride 1, two rows (kernels/fast/depthwise); each goes through all
// channels.
void AddDepthwiseTiles(const ConvShape& s, double vectors, int64_t lanes, Amounts& a) {
  const bool few = s.out_channels < lanes;
  const double across = few ? double(s.out_width) : CeilDiv(double(s.out_width), 4),
               wide = double(s.out_width) / across;
  const int64_t high = !few && s.stride_x == 1 && s.stride_y == 1 ? 2 : 1;
  const double down = CeilDiv(double(s.out_height), double(high));
  const double tiles = double(s.batch) * down * across, all = double(s.out_pixels()) * vectors;
  const std::string kind = std::to_string(s.kernel_width) + " wide, stride " + std::to_string(s.stride_x) +
                           (few ? ", few channels" : "");
  a.Add("vector, " + kind, all);
  a.Add("tile x vector, " + kind, tiles * vectors);
  a.Add("vector, " + kind + ", across cache lines", all * ShareAcross(s.out_channels, lanes));
  a.Add("tile", tiles);
  a.Add("row of tiles", double(s.batch) * down);
  // If the pixels and weights of a tile exceed the first-level cache, each tile reads the weights from the
  // second-level cache again.
  const int64_t side = s.kernel_width, rows = side + high - 1,
                pixel = int64_t{sizeof(float)} * s.out_channels;
  const double columns = (wide - 1) * double(s.stride_x) + double(side);
  const double touched = (double(rows) * columns + double(side * side) + double(high) * wide) * double(pixel);
  a.Add("byte of weights again", tiles * double(side * side * pixel) * Beyond(touched, kFirstBytes, 0.5));
  const double crowded = CrowdedLines(rows, std::llround(columns), side * side, s.in_width * pixel, pixel);
  a.Add("line of a crowded set", tiles * vectors * crowded);
}

Work DepthwiseWork(const NodeInRun& at, const ConvShape& s) {
  const Sizes sizes = SizesOf(s);
  const int64_t lanes = PlanGemm(1, 1).split.lanes();
  const double vectors = CeilDiv(double(s.out_channels), double(lanes)), pixels = double(s.out_pixels());
  Amounts a(at, "depthwise_f32");
  if (HasOwnCode(s)) {
    AddDepthwiseTiles(s, vectors, lanes, a);
  } else {
    a.Add("vector x tap", pixels * vectors * double(s.kernel_height * s.kernel_width));
    a.Add("pixel", pixels);
  }
  a.Add("byte of weights", sizes.weights);
  a.AddData(at.node.inputs[0], sizes.in, sizes.out);
  a.AddEpilogue(sizes.out);
  return a.Take();
}

Work WinogradWork(const NodeInRun& at, const ConvShape& s, int tile) {
  const WinogradPlan plan = PlanWinograd(s, tile);
  const Sizes sizes = SizesOf(s);
  const double positions = plan.positions, tiles = double(plan.tiles), k = double(s.in_channels);
  const double passes = CeilDiv(tiles, double(plan.pass)), weights = double(PackedWinogradBytes(plan));
  const double columns = double(plan.gemm.split.padded_columns());
  Amounts a(at, "winograd_f" + std::to_string(tile) + "_f32");
  a.AddTiles(plan.gemm.split, positions * passes, tiles / passes, double(plan.gemm.row_step), k);
  a.AddWeights(weights, tiles / passes, passes);
  a.AddColdWeights(plan.gemm.split, weights, tiles / passes, double(plan.gemm.row_step), k);
  // The bytes between the transforms and the products. In a long pass over many channels they leave the near
  // cache and come back.
  const double between = double(plan.pass) * positions * (k + columns) * kFloatBytes,
               values = tiles * positions * (k + columns);
  a.AddNearFar("value transformed", tiles * positions * k, between);
  a.AddNearFar("value transformed back", tiles * positions * columns, between);
  a.Add("value x doublings of the near cache",
        values * std::max(0.0, std::log2(between / at.caches.near_bytes)));
  const int64_t lanes = plan.gemm.split.lanes();
  a.Add("value across cache lines",
        tiles * positions *
            (k * ShareAcross(s.in_channels, lanes) + columns * ShareAcross(s.out_channels, lanes)));
  a.AddData(at.node.inputs[0], sizes.in, sizes.out);
  a.AddEpilogue(sizes.out);
  return a.Take();
}

std::vector<Work> ConvWorks(const NodeInRun& at, const ConvShape& s) {
  if (IsDepthwise(s)) return {DepthwiseWork(at, s)};
  std::vector<Work> works{DirectWork(at, s)};
  if (TakesWinograd(s))
    for (int tile : {2, 4}) works.push_back(WinogradWork(at, s, tile));
  return works;
}

// A vector-matrix product reads its weights once, in the order of the model. They are prefetched so far ahead
// that the cache that has them is assumed to make no difference. This is a guess.
Work VectorWork(const NodeInRun& at, double n, double k, bool by_rows, bool constant) {
  Amounts a(at, by_rows ? "matvec_rows_f32" : "matvec_columns_f32");
  a.Add("byte of weights", kFloatBytes * n * k);
  if (constant) a.AddWeightsFromMemory(kFloatBytes * n * k);
  a.Add("output", n);
  a.AddEpilogue(kFloatBytes * n);
  return a.Take();
}

Work MatrixWork(const NodeInRun& at, const Product& p) {
  const Node& node = at.node;
  const bool constant = IsConstant(at.graph, node.inputs[1]);
  const double m = double(p.m), n = double(p.n), k = double(p.k), batch = double(p.batch);
  if (p.is_vector()) return VectorWork(at, n, k, p.transposed, constant);
  const GemmPlan plan = PlanGemm(p.n, p.k);
  Amounts a(at, "gemm_f32", constant ? "" : "both computed");
  a.AddTiles(plan.split, batch, m, double(plan.row_step), k);
  const double weights = kFloatBytes * k * double(plan.split.padded_columns()),
               out = kFloatBytes * batch * m * n;
  if (constant) {
    a.AddWeights(weights, m);
    a.AddColdWeights(plan.split, weights, m, double(plan.row_step), k);
  } else {
    a.Add(p.transposed ? "byte packed across rows" : "byte packed", kFloatBytes * n * k * batch);
    a.Add("product", batch);
  }
  a.AddData(node.inputs[0], kFloatBytes * batch * m * k, out, k >= double(kShortSum));
  a.AddEpilogue(out);
  return a.Take();
}

double BytesOf(const Value& value) { return double(value.shape.Elements()) * double(SizeOf(value.type)); }

// A pooling reads a vector of channels for each tap of each output pixel; a global pooling writes one pixel.
Work PoolWork(const NodeInRun& at, const Pooling& pooling, const Value& in, const Value& out) {
  Amounts a(at, at.node.op);
  const double channels = double(in.shape.back()),
               vectors = CeilDiv(channels, double(PlanGemm(1, 1).split.lanes()));
  if (pooling.whole_image) {
    a.Add("vector x tap", vectors * double(in.shape.Elements()) / channels);
    a.AddData(at.node.inputs[0], BytesOf(in), 0);
    return a.Take();
  }
  const double taps = double(pooling.shape.window.kernel_height * pooling.shape.window.kernel_width);
  const double pixels = double(out.shape.Elements()) / channels;
  a.Add("vector x tap", pixels * vectors * taps);
  a.Add("pixel", pixels);
  a.AddData(at.node.inputs[0], BytesOf(in), BytesOf(out));
  return a.Take();
}

// The units depend on how processor/cpu transposes the tensor: rows that are copied unchanged, matrices with
// few rows or columns, which kernels/fast/layout interleaves (Few), larger matrices in tiles, and cases
// without a fast form.
Work TransposeWork(const NodeInRun& at, const Value& in, const Value& out) {
  constexpr int64_t kFew = 4;
  const Permutation p = JoinedPermutation(in.shape, at.node.attributes.IntList("perm"));
  const size_t rank = p.dims.size();
  const TransposeWay way = WayOf(p, SizeOf(in.type));
  const bool matrices = way == TransposeWay::kMatrices,
             few = matrices && std::min(p.dims[rank - 2], p.dims[rank - 1]) <= kFew;
  Amounts a(at, at.node.op,
            few                          ? "of few columns"
            : matrices                   ? "in tiles"
            : way == TransposeWay::kRows ? "in rows"
                                         : "one by one");
  if (matrices) a.Add("matrix", rank == 3 ? double(p.dims[0]) : 1);
  a.AddData(at.node.inputs[0], BytesOf(in), BytesOf(out));
  return a.Take();
}

// The time of any other node depends on its operator and on the bytes that it reads and writes.
Work AnyWork(const NodeInRun& at, const Value& out, double bytes, const std::string& regime = "") {
  Amounts a(at, at.node.op, regime);
  a.AddNearFar("byte", bytes, bytes);
  a.Add("output", double(out.shape.Elements()));
  if (IsRecurrentOperator(at.node.op)) a.Add("multiply-add", double(Flops(at.graph, at.node)) / 2);
  return a.Take();
}

bool IsEmpty(const Graph& graph, const Node& node) {
  const auto empty = [&](ValueId id) { return id != kNoValue && graph.value(id).shape.Elements() == 0; };
  return empty(node.input(0)) || empty(node.input(1)) || empty(node.outputs[0]);
}

std::vector<Work> OtherWorks(const NodeInRun& at) {
  const Node& node = at.node;
  const double bytes = double(BytesMoved(at.graph, node));
  const auto first =
      std::find_if(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id != kNoValue; });
  if (bytes <= 0 || first == node.outputs.end()) return {};
  const Value& out = at.graph.value(*first);
  if (node.input(0) == kNoValue || IsEmpty(at.graph, node)) return {AnyWork(at, out, bytes)};
  const Value& in = at.graph.value(node.inputs[0]);
  if (node.op == "Transpose") return {TransposeWork(at, in, out)};
  std::string why;
  if (IsPooling(node)) {
    if (const auto pooling = PoolingOf(at.graph, node, &why)) return {PoolWork(at, *pooling, in, out)};
  }
  return {AnyWork(at, out, bytes, IsPooling(node) || IsProduct(node) ? "reference" : "")};
}

}  // namespace

bool IsProduct(const Node& node) {
  return node.op == "Conv" || node.op == "Gemm" || node.op == "MatMul" || node.op == "mete.MatMul";
}

std::vector<Work> WorksOf(const NodeInRun& at) {
  const Node& node = at.node;
  if (IsViewOperator(node.op) || node.outputs.empty() || BytesMoved(at.graph, node) <= 0) return {};
  if (IsProduct(node) && IsEmpty(at.graph, node)) return {};
  std::string why;
  if (node.op == "Conv") {
    if (const auto shape = ConvolutionOf(at.graph, node, &why)) return ConvWorks(at, *shape);
  } else if (IsProduct(node)) {
    if (const auto product = ProductOf(at.graph, node, &why)) return {MatrixWork(at, *product)};
  }
  return OtherWorks(at);
}

}  // namespace mete
