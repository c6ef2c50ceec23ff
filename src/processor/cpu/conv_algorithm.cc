#include "processor/cpu/conv_algorithm.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/fast/winograd/winograd.h"

namespace mete {
namespace {

constexpr ConvAlgorithm kAll[] = {ConvAlgorithm::kDirect, ConvAlgorithm::kWinogradF2, ConvAlgorithm::kWinogradF4,
                                  ConvAlgorithm::kWinogradF6};

double RoundUp(int64_t n, int64_t step) { return double((n + step - 1) / step * step); }

// Time on one core, in multiply-adds of a product in full swing: those of the products, the reading of weights that no cache holds,
// and the transforms. The costs are fitted to bench/kernels (three/*) with AVX-512: a multiply-add takes 10.6 ps, and
// beside it a weight from memory costs 190 ps and a transformed value 180 ps; estimates are off by 12 % on average. Of direct, F(2x2)
// and F(4x4) the least estimate is the fastest for 29 of its 30 shapes and 4 % slower for one.
double Estimate(const ConvShape& s, ConvAlgorithm algorithm) {
  constexpr double kWeight = 18, kTransformed = 17;
  const double channels = double(s.in_channels), outputs = RoundUp(s.out_channels, 16), m = WinogradTile(algorithm);
  if (algorithm == ConvAlgorithm::kDirect) return 9 * channels * outputs * (double(s.out_pixels()) + kWeight);
  const double positions = (m + 2) * (m + 2);
  const double tiles = double(s.batch) * (RoundUp(s.out_height, int64_t(m)) / m) * (RoundUp(s.out_width, int64_t(m)) / m);
  return positions * (channels * outputs * (tiles + kWeight) + kTransformed * tiles * (RoundUp(s.in_channels, 16) + outputs));
}

}  // namespace

const char* Name(ConvAlgorithm algorithm) {
  switch (algorithm) {
    case ConvAlgorithm::kDirect: return "direct";
    case ConvAlgorithm::kWinogradF2: return "winograd_f2";
    case ConvAlgorithm::kWinogradF4: return "winograd_f4";
    case ConvAlgorithm::kWinogradF6: return "winograd_f6";
  }
  return "";
}

std::optional<ConvAlgorithm> ParseConvAlgorithm(std::string_view where, std::string_view name) {
  if (name.empty() || name == "auto") return std::nullopt;
  for (ConvAlgorithm algorithm : kAll)
    if (name == Name(algorithm)) return algorithm;
  std::string names = "auto";
  for (ConvAlgorithm algorithm : kAll) names += std::string(", ") + Name(algorithm);
  Fail(Code::kFailedPrecondition, std::string(where), "no such way to compute convolutions; got '{}', expected one of {}; try auto", name,
       names);
}

int WinogradTile(ConvAlgorithm algorithm) { return 2 * int(algorithm); }

std::vector<ConvAlgorithm> ConvAlgorithmsFor(const ConvShape& shape) {
  if (TakesWinograd(shape)) return {std::begin(kAll), std::end(kAll)};
  return {ConvAlgorithm::kDirect};
}

ConvAlgorithm ChooseConvAlgorithm(const ConvShape& shape) {
  constexpr double kMargin = 1.1;  // an estimate's usual error: less than that is not worth the larger error
  ConvAlgorithm best = ConvAlgorithm::kDirect;
  double least = Estimate(shape, best) / kMargin;
  for (ConvAlgorithm algorithm : ConvAlgorithmsFor(shape)) {
    if (algorithm == ConvAlgorithm::kDirect || algorithm == ConvAlgorithm::kWinogradF6) continue;
    const double estimate = Estimate(shape, algorithm);
    if (estimate < least) best = algorithm, least = estimate;
  }
  return best;
}

}  // namespace mete
