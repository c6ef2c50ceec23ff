#include "costs/work.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/fused.h"
#include "base/matmul_view.h"
#include "costs/bytes_since.h"
#include "graph/flops.h"
#include "kernels/fast/conv/conv.h"
#include "kernels/fast/conv/window.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "kernels/fast/tile/tile.h"
#include "kernels/fast/winograd/winograd.h"

namespace mete {
namespace {

constexpr double kFloat = sizeof(float);

// Of a first-level data cache: 32 to 64 KiB in cores of the last ten years. Guess; where it ends is soft anyway.
constexpr double kFirstBytes = 48 << 10;

// A tile asks for the places of its outputs ahead of time only where its sum is that long (kLeastAhead of kernels/fast/tile).
constexpr int64_t kShortSum = 64;

// So many rows multiply a weight for as long as the next one takes to come from the third level. Guess; of 16, 24 and 40, this one
// fitted Winograd's products best.
constexpr double kHidingRows = 40;

double CeilDiv(double a, double b) { return double((int64_t(a) + int64_t(b) - 1) / int64_t(b)); }

// How much of so many bytes does not stay in a cache. It holds other things too, so that it begins to be too small before it is full.
double Beyond(double bytes, double cache, double full) { return std::clamp((bytes / cache - full) / (1 - full), 0.0, 1.0); }

// The share of vectors that lie across two cache lines, of rows of so many values one after the other.
double ShareAcross(int64_t values, int64_t lanes) { return 1 - double(std::gcd(values, lanes)) / double(lanes); }

bool IsFree(FusedOp op) { return op == FusedOp::kNone || op == FusedOp::kRelu || op == FusedOp::kClip || op == FusedOp::kLeakyRelu; }

class Amounts {
 public:
  Amounts(std::string kernel, std::string regime, double near_bytes) : near_(near_bytes) { work_.kernel = kernel, work_.regime = regime; }

  void Add(const std::string& what, double amount) {
    if (amount > 0) work_.amounts[what] += amount;
  }

  // Of what passes `volume` bytes through the caches: what no longer fits near costs more.
  void AddNearFar(const std::string& what, double amount, double volume) {
    Add(what, amount);
    Add(what + ", far", amount * FarPart(volume));
  }

  // Of what leaves a cache, some stays a while, since no cache drops exactly its oldest bytes: until so many times its size have passed
  // (guess; of 2 to 4, all fitted alike, and better than none).
  static constexpr double kGone = 3;

  // BytesSince(), as far as it makes a difference.
  double Since(const Graph& graph, const Node& node, ValueId id) const { return BytesSince(graph, node, id, kGone * near_); }

  // `since`: Since() of what is read.
  void AddData(double in_bytes, double out_bytes, double since, bool asked_for = true) {
    Add("byte read", in_bytes);
    Add("byte read, far", in_bytes * GonePart(since));
    Add("byte read, farther", in_bytes * std::clamp((since / near_ - 1) / (kGone - 1), 0.0, 1.0));
    AddNearFar(asked_for ? "byte written" : "byte written behind a short sum", out_bytes, in_bytes + out_bytes);
  }

  // `rows` are multiplied by them at a time, `passes` times.
  void AddWeights(double bytes, double rows, double passes = 1) {
    const double far = FarPart(bytes);
    Add("byte of weights", bytes);
    Add("byte of weights, far", passes * bytes * far);
    Add("byte of weights that rows wait for", bytes * (1 + (passes - 1) * far) * std::max(0.0, 1 - rows / kHidingRows));
  }

  // Tiles fetch the panel that follows theirs, each a vector of a row at most: what comes before all tiles, and what few tiles leave out,
  // nobody has asked for when it is needed.
  void AddColdWeights(const Panels& split, double bytes, double rows, double row_step, double k) {
    int64_t widest = 0;
    for (int64_t p = 0; p < split.count(); ++p) widest = std::max(widest, split.Width(p));
    if (widest == 0) return;
    const double first = std::min(bytes, kFloat * double(widest) * std::min(k, double(ChunkLength(widest))));
    const double vectors = double(widest / split.lanes()), tiles = CeilDiv(rows, row_step);
    Add("byte of weights that nobody asked for", first + (bytes - first) * std::max(0.0, 1 - tiles / vectors));
  }

  void AddEpilogue(const Graph& graph, const Node& node, double out_bytes) {
    EpilogueSpec spec;
    if (!ParseEpilogue(node.attributes, spec).empty()) return;
    if (spec.residual && node.input(3) != kNoValue) {
      Add("byte of residual", out_bytes);
      Add("byte of residual, far", out_bytes * GonePart(Since(graph, node, node.inputs[3])));
    }
    if (!IsFree(spec.activation.op)) Add(std::string("byte through ") + Name(spec.activation.op), out_bytes);
  }

  // Products of `rows` rows with panels of those widths, each column a sum of k.
  void AddTiles(const Panels& split, double copies, double rows, double row_step, double k) {
    const double strips = CeilDiv(rows, row_step);
    for (int64_t p = 0; p < split.count(); ++p)
      Add("row x column panel of " + std::to_string(split.Width(p)) + " x k", copies * rows * k);
    Add("strip of rows x panel x k", copies * strips * double(split.count()) * k);
    Add("strip of rows x panel", copies * strips * double(split.count()));
  }

  Work Take() {
    Add("node", 1);
    return std::move(work_);
  }

  // Of what is as large as that itself. (Guess; of 0.25 to 1, 0.5 to 1, 0.5 to 2 and a step at 1, this one fitted depthwise convolutions
  // best, others alike.)
  double FarPart(double bytes) const { return Beyond(bytes, near_, 0.25); }

  // Of what so many bytes have passed since: all are counted, so that the cache is nearly full before something leaves it. (Guess; of
  // 0.25, 0.5, 0.75 and 0.9 of it, this one fitted depthwise convolutions best.)
  double GonePart(double since) const { return Beyond(since, near_, 0.75); }

 private:
  const double near_;
  Work work_;
};

struct Sizes {
  double in = 0, weights = 0, out = 0;  // bytes
};

Sizes SizesOf(const ConvShape& s) {
  const double taps = double(s.kernel_height * s.kernel_width), k = taps * double(s.in_channels / s.groups);
  const double out = double(s.out_pixels() * s.out_channels), in = double(s.batch * s.in_height * s.in_width * s.in_channels);
  // A stride passes over pixels that nobody asks for.
  return {kFloat * std::min(in, double(s.out_pixels()) * taps * double(s.in_channels)), kFloat * k * double(s.out_channels), kFloat * out};
}

Work DirectWork(const Graph& graph, const Node& node, const ConvShape& s, double near_bytes) {
  const ConvPlan plan = PlanConv(s);
  const Sizes sizes = SizesOf(s);
  const bool one_row = s.out_pixels() == 1;
  Amounts a(plan.as_gemm ? "conv_1x1_f32" : plan.joined ? "conv_rows_f32" : "conv_f32", one_row ? "one row" : "", near_bytes);
  const double k = double(s.kernel_height * s.kernel_width * s.in_channels / s.groups);
  const double pixels = double(s.out_pixels()), weights = kFloat * k * double(plan.split.padded_columns() * s.groups);
  a.AddTiles(plan.split, double(s.groups), pixels, double(plan.row_step), k);
  a.AddWeights(weights, plan.as_gemm ? pixels : std::min(pixels, double(plan.pass)));
  a.AddColdWeights(plan.split, weights, pixels, double(plan.row_step), k);
  a.AddData(sizes.in, sizes.out, a.Since(graph, node, node.inputs[0]), plan.tap_length >= kShortSum);
  a.AddEpilogue(graph, node, sizes.out);
  return a.Take();
}

// Tiles of up to four columns and, at stride 1, two rows (kernels/fast/depthwise), one after the other through all channels.
void AddDepthwiseTiles(const ConvShape& s, double vectors, int64_t lanes, Amounts& a) {
  const bool few = s.out_channels < lanes;
  const double across = few ? double(s.out_width) : CeilDiv(double(s.out_width), 4), wide = double(s.out_width) / across;
  const double high = !few && s.stride_x == 1 && s.stride_y == 1 ? 2 : 1, down = CeilDiv(double(s.out_height), high);
  const double tiles = double(s.batch) * down * across, all = double(s.out_pixels()) * vectors;
  const std::string kind = std::to_string(s.kernel_width) + " wide, stride " + std::to_string(s.stride_x) + (few ? ", few channels" : "");
  a.Add("vector, " + kind, all);
  a.Add("tile x vector, " + kind, tiles * vectors);
  a.Add("vector, " + kind + ", across cache lines", all * ShareAcross(s.out_channels, lanes));
  a.Add("tile", tiles);
  a.Add("row of tiles", double(s.batch) * down);
  // Where the pixels and weights of a tile are more than the first-level cache, each tile reads the weights from the second one.
  const double side = double(s.kernel_width), pixel = kFloat * double(s.out_channels);
  const double meets = (side + high - 1) * ((wide - 1) * double(s.stride_x) + side);
  a.Add("byte of weights again", tiles * side * side * pixel * Beyond((meets + side * side + high * wide) * pixel, kFirstBytes, 0.5));
}

Work DepthwiseWork(const Graph& graph, const Node& node, const ConvShape& s, double near_bytes) {
  const Sizes sizes = SizesOf(s);
  const int64_t lanes = PlanGemm(1, 1).split.lanes();
  const double vectors = CeilDiv(double(s.out_channels), double(lanes)), pixels = double(s.out_pixels());
  Amounts a("depthwise_f32", "", near_bytes);
  if (HasOwnCode(s)) {
    AddDepthwiseTiles(s, vectors, lanes, a);
  } else {
    a.Add("vector x tap", pixels * vectors * double(s.kernel_height * s.kernel_width));
    a.Add("pixel", pixels);
  }
  a.Add("byte of weights", sizes.weights);
  a.AddData(sizes.in, sizes.out, a.Since(graph, node, node.inputs[0]));
  a.AddEpilogue(graph, node, sizes.out);
  return a.Take();
}

Work WinogradWork(const Graph& graph, const Node& node, const ConvShape& s, int tile, double near_bytes) {
  const WinogradPlan plan = PlanWinograd(s, tile);
  const Sizes sizes = SizesOf(s);
  const double positions = plan.positions, tiles = double(plan.tiles), k = double(s.in_channels);
  const double passes = CeilDiv(tiles, double(plan.pass)), weights = double(PackedWinogradBytes(plan));
  const double columns = double(plan.gemm.split.padded_columns());
  Amounts a("winograd_f" + std::to_string(tile) + "_f32", "", near_bytes);
  a.AddTiles(plan.gemm.split, positions * passes, tiles / passes, double(plan.gemm.row_step), k);
  a.AddWeights(weights, tiles / passes, passes);
  a.AddColdWeights(plan.gemm.split, weights, tiles / passes, double(plan.gemm.row_step), k);
  // Between the transforms and the products, which a long pass over many channels sends far away and back.
  const double between = double(plan.pass) * positions * (k + columns) * kFloat, values = tiles * positions * (k + columns);
  a.AddNearFar("value transformed", tiles * positions * k, between);
  a.AddNearFar("value transformed back", tiles * positions * columns, between);
  a.Add("value x doublings of the near cache", values * std::max(0.0, std::log2(between / near_bytes)));
  const int64_t lanes = plan.gemm.split.lanes();
  a.Add("value across cache lines",
        tiles * positions * (k * ShareAcross(s.in_channels, lanes) + columns * ShareAcross(s.out_channels, lanes)));
  a.AddData(sizes.in, sizes.out, a.Since(graph, node, node.inputs[0]));
  a.AddEpilogue(graph, node, sizes.out);
  return a.Take();
}

std::vector<Work> ConvWorks(const Graph& graph, const Node& node, double near_bytes) {
  const auto shape = [&](ValueId id) -> const Shape& { return graph.value(id).shape; };
  const ConvShape s = ConvShapeOf(shape(node.inputs[0]), shape(node.inputs[1]), shape(node.outputs[0]), node.attributes);
  if (IsDepthwise(s)) return {DepthwiseWork(graph, node, s, near_bytes)};
  std::vector<Work> works{DirectWork(graph, node, s, near_bytes)};
  if (TakesWinograd(s))
    for (int tile : {2, 4}) works.push_back(WinogradWork(graph, node, s, tile, near_bytes));
  return works;
}

// A row of one matrix: its weights are read once, as they lie in the model.
Work VectorWork(const Graph& graph, const Node& node, double n, double k, bool by_rows, double near_bytes) {
  Amounts a(by_rows ? "matvec_rows_f32" : "matvec_columns_f32", "", near_bytes);
  const double bytes = kFloat * n * k;
  a.Add("byte of weights", bytes);
  a.Add("byte of weights, far", bytes * a.FarPart(bytes));
  a.Add("output", n);
  a.AddEpilogue(graph, node, kFloat * n);
  return a.Take();
}

std::vector<Work> MatrixWorks(const Graph& graph, const Node& node, double near_bytes) {
  const Shape &x = graph.value(node.inputs[0]).shape, &b = graph.value(node.inputs[1]).shape, &y = graph.value(node.outputs[0]).shape;
  if (x.rank() < 2 || b.rank() < 2 || y.rank() < 2) return {};
  double m = double(y.Elements() / y.back()), n = double(y.back()), k = double(x.back()), batch = 1;
  MatMulView view;
  if (node.op == "mete.MatMul") {
    if (!ParseMatMulView(node.attributes, x, b, view).empty()) return {};
    m = double(view.m), n = double(view.n), k = double(view.k), batch = double(view.batch);
  } else if (node.op == "Gemm") {
    k = double(node.attributes.Int("transA", 0) ? x[0] : x[1]);
  } else if (b.rank() > 2 && b.Elements(0, b.rank() - 2) > 1) {
    batch = double(b.Elements(0, b.rank() - 2)), m /= batch;
  }
  const bool constant = graph.value(node.inputs[1]).is_constant(), by_rows = node.op == "Gemm" && node.attributes.Int("transB", 0) != 0;
  if (m == 1 && batch == 1 && node.op != "mete.MatMul")
    return {VectorWork(graph, node, n, k, by_rows, near_bytes)};
  const GemmPlan plan = PlanGemm(int64_t(n), int64_t(k));
  Amounts a("gemm_f32", constant ? "" : "both computed", near_bytes);
  a.AddTiles(plan.split, batch, m, double(plan.row_step), k);
  const double weights = kFloat * k * double(plan.split.padded_columns()), out = kFloat * batch * m * n;
  if (constant) {
    a.AddWeights(weights, m);
    a.AddColdWeights(plan.split, weights, m, double(plan.row_step), k);
  } else {
    a.Add(by_rows || (node.op == "mete.MatMul" && view.b_column != 1) ? "byte packed across rows" : "byte packed", kFloat * n * k * batch);
    a.Add("product", batch);
  }
  a.AddData(kFloat * batch * m * k, out, a.Since(graph, node, node.inputs[0]), k >= double(kShortSum));
  a.AddEpilogue(graph, node, out);
  return {a.Take()};
}

// Everything else goes with what it reads and writes, and with the operator.
std::vector<Work> OtherWorks(const Graph& graph, const Node& node, double near_bytes) {
  const double bytes = double(BytesMoved(graph, node));
  if (bytes <= 0) return {};
  Amounts a(node.op, "", near_bytes);
  a.AddNearFar("byte", bytes, bytes);
  const auto first = std::find_if(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id != kNoValue; });
  if (first == node.outputs.end()) return {};
  const double outputs = double(graph.value(*first).shape.Elements());
  a.Add("output", outputs);
  if (IsRecurrentOperator(node.op)) a.Add("multiply-add", double(Flops(graph, node)) / 2);
  if (node.op == "MaxPool" || node.op == "AveragePool") {
    double taps = 1;
    for (int64_t side : node.attributes.IntList("kernel_shape")) taps *= double(side);
    a.Add("output x tap", taps * outputs);
  }
  return {a.Take()};
}

bool IsFloat(const Graph& graph, const Node& node) {
  return node.input(0) != kNoValue && node.input(1) != kNoValue && graph.value(node.inputs[0]).type == DType::kF32 &&
         graph.value(node.inputs[1]).type == DType::kF32;
}

bool IsEmpty(const Graph& graph, const Node& node) {
  const auto empty = [&](ValueId id) { return id != kNoValue && graph.value(id).shape.Elements() == 0; };
  return empty(node.input(0)) || empty(node.input(1)) || empty(node.outputs[0]);
}

}  // namespace

bool IsProduct(const Node& node) { return node.op == "Conv" || node.op == "Gemm" || node.op == "MatMul" || node.op == "mete.MatMul"; }

std::vector<Work> WorksOf(const Graph& graph, const Node& node, double near_bytes) {
  if (IsViewOperator(node.op) || node.outputs.empty() || BytesMoved(graph, node) <= 0) return {};
  if (IsProduct(node) && IsFloat(graph, node)) {
    if (IsEmpty(graph, node)) return {};
    if (node.op != "Conv") return MatrixWorks(graph, node, near_bytes);
    const bool fast = node.attributes.String("layout", "") == "NHWC" && graph.value(node.inputs[1]).is_constant();
    if (fast) return ConvWorks(graph, node, near_bytes);
  }
  return OtherWorks(graph, node, near_bytes);
}

}  // namespace mete
