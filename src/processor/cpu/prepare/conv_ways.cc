#include "processor/cpu/prepare/conv_ways.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/fast/depthwise/depthwise.h"
#include "kernels/fast/half/half_conv.h"

namespace mete {
namespace {

double RoundUp(int64_t n, int64_t step) { return double((n + step - 1) / step * step); }

// The time of a product of halves: a processor with an instruction for it multiplies two in the time of a
// multiply-add of f32.
double EstimateHalf(const ConvShape& s, Precision operands, double products, double weights) {
  // An input is read from and written to the second-level cache while it is rounded. This value is a guess.
  constexpr double kRounded = 10;
  const HalfConvPlan plan = PlanHalfConv(s, operands);
  const double inputs = double(s.batch * s.in_height * s.in_width * s.in_channels);
  return products / (IsFast(plan) ? 2 : 1) + weights / 2 + (RoundsInputs(plan) ? kRounded * inputs : 0);
}

// Estimates the time on one core, in multiply-adds of a product at full speed: the multiply-adds of the
// products, the reading of weights from memory, and the transforms. The costs are fitted to bench/kernels
// with AVX-512: a multiply-add takes 10.6 ps, a weight from memory costs 190 ps more and a
// transformed value 180 ps; estimates are off by 12 % on average. Among direct, F(2x2) and F(4x4) the
// algorithm with the least estimate is the fastest for 29 of the 30 shapes and 4 % slower for one.
double Estimate(const ConvShape& s, ConvAlgorithm algorithm) {
  constexpr double kWeight = 18, kTransformed = 17;
  const double channels = double(s.in_channels), outputs = RoundUp(s.out_channels, 16),
               m = WinogradTile(algorithm);
  const double taps = double(s.kernel_height * s.kernel_width * s.in_channels / s.groups);
  const double products = taps * outputs * double(s.out_pixels()), weights = taps * outputs * kWeight;
  if (algorithm == ConvAlgorithm::kDirect) {
    const GemmPlan plan = PlanConv(s).gemm;
    if (!plan.dots) return products + weights;
    const double steps =
        double(plan.steps * plan.split.lanes() * s.groups);  // a step takes as long as a multiply-add
    return steps * double(s.out_pixels()) + taps * double(s.out_channels) * kWeight;
  }
  if (const Precision rounded = OperandsOf(algorithm); rounded != Precision::kF32)
    return EstimateHalf(s, rounded, products, weights);
  const double positions = (m + 2) * (m + 2);
  const double tiles =
      double(s.batch) * (RoundUp(s.out_height, int64_t(m)) / m) * (RoundUp(s.out_width, int64_t(m)) / m);
  return positions * (channels * outputs * (tiles + kWeight) +
                      kTransformed * tiles * (RoundUp(s.in_channels, 16) + outputs));
}

// Estimates the time of exact sums of bytes in the same unit. An instruction that adds four products to a sum
// takes the time of a multiply-add of f32; sums of products of 16 bits were measured at 1.2 to 1.3 times the
// speed of f32, with AVX2 and AVX-512. Weights have a quarter of the bytes.
double EstimateExact(const ConvShape& s, bool signed_inputs) {
  constexpr double kWeight = 18. / 4;
  const double speed = IsFast(PlanByteConv(s, signed_inputs)) ? 4 : 1.2;
  const double weights =
      double(s.kernel_height * s.kernel_width * s.in_channels / s.groups) * RoundUp(s.out_channels, 16);
  return weights * (double(s.out_pixels()) / speed + kWeight);
}

// An estimate's usual error: a smaller gain does not justify the larger numerical error.
constexpr double kMargin = 1.1;
constexpr double kHopeless = 2;  // no estimate is wrong by this factor

// Returns the ways from the least estimate on, without those that are hopeless.
template <class Way>
std::vector<Way> FastestFirst(std::vector<std::pair<double, Way>> ways) {
  std::stable_sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Way> result;
  for (const auto& [estimate, way] : ways)
    if (estimate < kHopeless * ways[0].first) result.push_back(way);
  return result;
}

}  // namespace

std::string Name(const ConvWay& way) {
  return way.tile_vectors == 0 ? Name(way.algorithm)
                               : fmt::format("{}, tile {}", Name(way.algorithm), way.tile_vectors);
}

std::vector<ConvWay> ConvWaysFor(const ConvShape& shape, const std::vector<ConvAlgorithm>& algorithms) {
  std::vector<std::pair<double, ConvWay>> ways;
  const double direct = Estimate(shape, ConvAlgorithm::kDirect) / kMargin;
  ways.push_back({direct, {}});
  for (size_t i = 1; i < algorithms.size(); ++i)
    ways.push_back({Estimate(shape, algorithms[i]), {algorithms[i]}});
  if (!IsDepthwise(shape)) {
    const std::vector<int64_t> widths = GemmTileWidths(shape.out_channels / shape.groups);
    for (size_t i = 1; i < widths.size(); ++i) ways.push_back({direct, {ConvAlgorithm::kDirect, widths[i]}});
  }
  return FastestFirst(std::move(ways));
}

std::vector<ConvAlgorithm> ByteWaysFor(const QuantizedConvolution& conv) {
  if (conv.algorithms.size() == 1) return conv.algorithms;
  std::vector<std::pair<double, ConvAlgorithm>> ways;
  for (const ConvAlgorithm algorithm : conv.algorithms)
    ways.push_back({algorithm == ConvAlgorithm::kDirect
                        ? EstimateExact(conv.shape, conv.x.type == DType::kI8) / kMargin
                        : Estimate(conv.shape, algorithm),
                    algorithm});
  return FastestFirst(std::move(ways));
}

bool MayBeSoonerInF32(QuantizedConvolution conv) {
  const auto may_be_sooner = [&] {
    const std::vector<ConvAlgorithm> ways = ByteWaysFor(conv);
    // With an instruction for products of bytes no estimate is so wrong that Winograd is sooner.
    return IsFast(PlanByteConv(conv.shape, conv.x.type == DType::kI8)) ? ways[0] != ConvAlgorithm::kDirect
                                                                       : ways.size() > 1;
  };
  // The estimates need the shape alone, and whether the error is within its bound needs all weights.
  conv.algorithms = {ConvAlgorithm::kDirect, ConvAlgorithm::kWinogradF2, ConvAlgorithm::kWinogradF4};
  if (!may_be_sooner()) return false;
  conv.algorithms = ByteAlgorithmsFor(conv);
  return may_be_sooner();
}

std::string ToText(const ConvShape& s) {
  return fmt::format(
      "conv {}x{}x{}x{} of {} -> {}x{}x{} of {}, kernel {}x{}, stride {}x{}, dilation {}x{}, pad {}+{}, "
      "groups {}",
      s.batch, s.in_height, s.in_width, s.in_channels, s.in_pixel_stride, s.out_height, s.out_width,
      s.out_channels, s.out_pixel_stride, s.kernel_height, s.kernel_width, s.stride_y, s.stride_x,
      s.dilation_y, s.dilation_x, s.pad_top, s.pad_left, s.groups);
}

}  // namespace mete
