#include "costs/conv_work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "costs/amounts.h"
#include "dispatch/conv_algorithms.h"
#include "dispatch/halves.h"
#include "kernels/fast/conv/conv.h"
#include "kernels/fast/conv/phases.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "kernels/fast/gemm/gemm.h"
#include "kernels/fast/half/half_conv.h"
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

// The time in which a depthwise convolution multiplies a vector of four taps of bytes. This value is a guess,
// for profiles without such kernels.
constexpr double kQuadsNs = 4;

constexpr double kHalfBytes = 2;

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
Work OneRowWork(const NodeInRun& at, const ConvShape& s, double weights, double in, double out) {
  Amounts a(at, KernelName(s, ConvAlgorithm::kDirect), "one row");
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
               weights = kFloatBytes * k * double(plan.gemm.packed_columns() * s.groups);
  if (plan.as_gemm && s.out_pixels() == 1) return OneRowWork(at, s, weights, sizes.in, sizes.out);
  Amounts a(at, KernelName(s, ConvAlgorithm::kDirect), s.out_pixels() == 1 ? "one row" : "");
  a.AddTiles(plan.split, double(s.groups), pixels, double(plan.row_step), double(plan.gemm.steps));
  a.AddWeights(weights, plan.as_gemm ? pixels : std::min(pixels, double(plan.pass)));
  a.AddColdWeights(plan.split, weights, pixels, double(plan.row_step), k);
  a.AddData(at.node.inputs[0], sizes.in, sizes.out, plan.tap_length >= kShortSum);
  a.AddEpilogue(sizes.out);
  return a.Take();
}

// The taps of a kernel row may be joined, which fills up fewer steps.
double ElementsOf(const HalfConvPlan& plan) { return double(plan.taps * plan.steps * plan.step); }

}  // namespace

Work HalfConvWork(const NodeInRun& at, const ConvShape& s, Precision operands, double products,
                  bool rounded) {
  const HalfConvPlan plan = PlanHalfConv(s, operands);
  const Sizes sizes = SizesOf(s);
  // Without an instruction for halves, a pair is multiplied as two numbers of f32 are.
  const double k = ElementsOf(plan) / (IsFast(plan) ? 2 : 1), pixels = double(s.out_pixels()),
               weights = kHalfBytes * ElementsOf(plan) * double(plan.split.padded_columns() * s.groups);
  Amounts a(at, std::string("conv_") + Name(operands));
  a.AddTiles(plan.split, products * double(s.groups), pixels, double(plan.row_step), k);
  a.AddWeights(weights, std::min(pixels, double(plan.pass)));
  a.AddColdWeights(plan.split, weights, pixels, double(plan.row_step), k);
  // An input that is rounded is read, and written and read again in half of its bytes.
  const double reads = !RoundsInputs(plan) ? 1 : rounded ? 0.5 : 2;
  a.AddData(at.node.inputs[0], products * reads * sizes.in, products * sizes.out,
            plan.tap_length >= kShortSum);
  a.AddEpilogue(products * sizes.out);
  Work work = a.Take();
  work.stand_in = KernelName(s, ConvAlgorithm::kDirect);
  return work;
}

namespace {

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
  Amounts a(at, KernelName(s, ConvAlgorithm::kDirect));
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

// `element_bytes`: of the elements of the input and of the output.
Work WinogradWork(const NodeInRun& at, const ConvShape& s, ConvAlgorithm algorithm,
                  double element_bytes = kFloatBytes) {
  const WinogradPlan plan = PlanWinograd(s, WinogradTile(algorithm));
  const Sizes sizes = SizesOf(s);
  const double positions = plan.positions, tiles = double(plan.tiles), k = double(s.in_channels);
  const double passes = CeilDiv(tiles, double(plan.pass)), weights = double(PackedWinogradBytes(plan));
  const double columns = double(plan.gemm.split.padded_columns());
  Amounts a(at, KernelName(s, algorithm));
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
  const double of_floats = element_bytes / kFloatBytes;
  a.AddData(at.node.inputs[0], sizes.in * of_floats, sizes.out * of_floats);
  a.AddEpilogue(sizes.out * of_floats);
  return a.Take();
}

Work PlainWork(const NodeInRun& at, const ConvShape& s) {
  return IsDepthwise(s) ? DepthwiseWork(at, s) : DirectWork(at, s);
}

// Each piece is a product, to which the sums of the pieces before it are added.
// The order of the sums is given, so that they are no dot products.
Work PiecesWork(const NodeInRun& at, const Convolution& conv) {
  const ConvShape& s = conv.shape;
  const ConvPlan plan = PlanConv(s);
  const Sizes sizes = SizesOf(s);
  const double k = double(s.in_channels), pixels = double(s.out_pixels()), piece = double(conv.sum_piece),
               pieces = CeilDiv(k, piece), weights = kFloatBytes * k * double(plan.split.padded_columns());
  Amounts a(at, conv.kernels()[0]);
  for (double begin = 0; begin < k; begin += piece)
    a.AddTiles(plan.split, 1, pixels, double(plan.row_step), std::min(piece, k - begin));
  a.AddWeights(weights, pixels);
  a.AddColdWeights(plan.split, weights, pixels, double(plan.row_step), k);
  a.AddData(at.node.inputs[0], sizes.in, pieces * sizes.out, conv.sum_piece >= kShortSum);
  a.Add("byte of residual", (pieces - 1) * sizes.out);
  Work work = a.Take();
  work.stand_in = KernelName(s, ConvAlgorithm::kDirect);
  return work;
}

Work ExactWork(const NodeInRun& at, const QuantizedConvolution& conv) {
  const ConvShape& s = conv.shape;
  const ByteConvPlan plan = PlanByteConv(s, conv.x.type == DType::kI8);
  const double products = double(conv.products), pixels = double(s.out_pixels()),
               outputs = products * pixels * double(s.out_channels),
               inputs = products * double(s.batch * s.in_height * s.in_width * s.in_channels);
  const double quads = double(plan.by_channel ? plan.quads : plan.taps * plan.quads);
  const bool computed = conv.weights_input >= 0;
  Amounts a(at, conv.kernel(), computed ? "both computed" : "");
  if (plan.by_channel) {
    a.Add("pixel x panel x quad", pixels * double(plan.panels) * quads);
    a.Add("pixel x panel", pixels * double(plan.panels));
  } else {
    a.AddTiles(plan.split, double(s.groups) * products, pixels, double(plan.row_step), quads);
    if (computed) a.Add("byte packed", products * double(PackedByteConvBytes(plan)));
    else a.AddWeights(double(PackedByteConvBytes(plan)), std::min(pixels, double(plan.pass)));
  }
  a.Add("tap of a pixel", products * pixels * double(plan.taps));
  a.AddData(at.node.inputs[0], inputs, outputs);
  Work work = a.Take();
  // An instruction adds four products of bytes to a sum in about the time of a multiply-add of floats.
  work.stand_in = "conv_1x1_f32";
  if (plan.by_channel) work.beside_ns = kQuadsNs * pixels * double(plan.panels) * quads;
  return work;
}

}  // namespace

std::vector<Work> ConvWorks(const NodeInRun& at, const Convolution& conv) {
  if (conv.sum_piece > 0) return {PiecesWork(at, conv)};
  std::vector<Work> works;
  for (const ConvAlgorithm algorithm : conv.algorithms)
    works.push_back(OperandsOf(algorithm) != Precision::kF32
                        ? HalfConvWork(at, conv.shape, OperandsOf(algorithm))
                    : algorithm == ConvAlgorithm::kDirect ? PlainWork(at, conv.shape)
                                                          : WinogradWork(at, conv.shape, algorithm));
  return works;
}

// The sum of the phases' works, whose kernels are those of a Conv. The first phase in halves stands for the
// rounding of the input, too.
Work TransposedConvWork(const NodeInRun& at, const TransposedConvolution& conv) {
  const Precision precision = PrecisionOf(conv);
  const bool half = IsHalf(precision);
  Work all{.kernel = half ? conv.kernels().back() : conv.kernel(), .regime = {}, .amounts = {}};
  for (const ConvPhase& phase : PhasesOf(conv.shape)) {
    const Work work =
        half ? HalfConvWork(at, phase.conv, precision, 1, !all.amounts.empty()) : PlainWork(at, phase.conv);
    for (const auto& [unit, amount] : work.amounts) all.amounts[unit] += double(conv.shape.batch) * amount;
    // Profiles have the faster half alone (profile/probes.cc).
    all.stand_in = half && precision != FastHalf() ? work.stand_in : work.kernel;
  }
  return all;
}

std::vector<Work> QuantizedConvWorks(const NodeInRun& at, const QuantizedConvolution& conv) {
  // Floats of bytes and bytes of floats are made in registers, so Winograd's units are those of floats.
  std::vector<Work> works;
  for (const ConvAlgorithm algorithm : conv.algorithms)
    works.push_back(algorithm == ConvAlgorithm::kDirect ? ExactWork(at, conv)
                                                        : WinogradWork(at, conv.shape, algorithm, 1));
  return works;
}

}  // namespace mete
