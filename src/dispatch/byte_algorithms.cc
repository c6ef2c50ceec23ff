// The algorithms for a convolution of bytes, and the names of the kernels that follow them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dispatch/quantized.h"
#include "kernels/fast/winograd/winograd.h"

namespace mete {
namespace {

// The most levels that the error of a sum in f32 may be by its bound (WinogradLevels). This value is a guess:
// errors that were measured are a hundredth of the bound, so that levels changed by one at most, which the
// bound itself does not promise. Convolutions of 512 channels with F(4x4) have bounds of up to 3.
constexpr double kMostLevels = 4;

template <class T>
void AddMagnitudes(const T* weights, int64_t filters, int32_t zero, std::array<int64_t, 9>& sums) {
  for (int64_t f = 0; f < filters; ++f, weights += 9)
    for (size_t tap = 0; tap < 9; ++tap) sums[tap] += std::abs(int32_t(weights[tap]) - zero);
}

// Returns the sum of the magnitudes of a channel's weights for each tap.
std::array<double, 9> MagnitudesOf(const QuantizedConvolution& conv, int64_t channel) {
  const int64_t filters = conv.shape.in_channels, first = channel * filters * 9;
  std::array<int64_t, 9> sums{};
  const int32_t zero = conv.weight_zero(channel);
  if (conv.weights.is_signed)
    AddMagnitudes(static_cast<const int8_t*>(conv.weights.bytes) + first, filters, zero, sums);
  else AddMagnitudes(static_cast<const uint8_t*>(conv.weights.bytes) + first, filters, zero, sums);
  std::array<double, 9> magnitudes;
  std::copy(sums.begin(), sums.end(), magnitudes.begin());
  return magnitudes;
}

}  // namespace

std::vector<ConvAlgorithm> ByteAlgorithmsFor(const QuantizedConvolution& conv) {
  std::vector<ConvAlgorithm> algorithms{ConvAlgorithm::kDirect};
  const bool in_rows = conv.weights.channel_stride == 0 && conv.weights.element_stride == 1;
  if (conv.sums || conv.weights_input >= 0 || !in_rows || !TakesWinograd(conv.shape)) return algorithms;
  const double input = std::max(-double(conv.x.least()), double(conv.x.most()));
  double two = 0, four = 0;
  for (int64_t c = 0; c < conv.shape.out_channels; ++c) {
    const std::array<double, 9> magnitudes = MagnitudesOf(conv, c);
    const auto levels = [&](int m) {
      return WinogradLevels(m, conv.shape.in_channels, input, magnitudes, double(conv.scale[size_t(c)]));
    };
    two = std::max(two, levels(2));
    four = std::max(four, levels(4));
  }
  if (two <= kMostLevels) algorithms.push_back(ConvAlgorithm::kWinogradF2);
  if (four <= kMostLevels) algorithms.push_back(ConvAlgorithm::kWinogradF4);
  return algorithms;
}

std::string QuantizedConvolution::kernel(ConvAlgorithm algorithm) const {
  if (const int m = WinogradTile(algorithm); m > 0) return fmt::format("winograd_f{}_bytes", m);
  return IsByChannel(shape) ? "depthwise_bytes" : "conv_bytes";
}

std::vector<std::string> QuantizedConvolution::kernels() const {
  std::vector<std::string> names;
  for (const ConvAlgorithm algorithm : algorithms) names.push_back(kernel(algorithm));
  return names;
}

int32_t QuantizedConvolution::weight_zero(int64_t channel) const {
  const int32_t usual = weights.is_signed ? 0 : 128;
  return minus_weight_zeros.empty() ? usual : usual - minus_weight_zeros[size_t(channel)];
}

}  // namespace mete
