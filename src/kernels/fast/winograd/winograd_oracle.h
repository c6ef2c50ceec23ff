// The problems of winograd_test.cc and winograd_bytes_test.cc, with the error's stated bound.
#pragma once

#include <array>

#include "kernels/fast/conv/conv_oracle.h"
#include "kernels/fast/winograd/matrices.h"
#include "kernels/fast/winograd/winograd.h"

namespace mete {

using WinogradSquare = std::array<std::array<double, 8>, 8>;

// Returns left middle left^T, where every element of `left` is replaced by term(element).
template <class Matrix, class Term>
WinogradSquare Around(const Matrix& left, const WinogradSquare& middle, const Term& term) {
  WinogradSquare half = {}, whole = {};
  const size_t rows = std::size(left), inner = std::size(left[0]);
  for (size_t i = 0; i < rows; ++i)
    for (size_t k = 0; k < inner; ++k)
      for (size_t j = 0; j < inner; ++j) half[i][j] += term(left[i][k]) * middle[k][j];
  for (size_t i = 0; i < rows; ++i)
    for (size_t k = 0; k < inner; ++k)
      for (size_t j = 0; j < rows; ++j) whole[i][j] += half[i][k] * term(left[j][k]);
  return whole;
}

class WinogradProblem : public ConvProblem {
 public:
  WinogradProblem(const ConvShape& shape, int m, FusedOp op, uint32_t seed, float (*round)(float) = nullptr)
      : ConvProblem(shape, op, seed, round), plan_(PlanWinograd(shape, m)) {
    EXPECT_STREQ(TargetOf(plan_), ActiveTarget());
    packed_.assign(PackedWinogradBytes(plan_) / sizeof(float), NAN);
    PackWinograd(plan_, weights(), {0, plan_.panels}, packed_.data());
    scratch_.assign(WinogradScratchBytes(plan_) / sizeof(float), NAN);
  }

  WinogradPlan& plan() { return plan_; }
  const WinogradPlan& plan() const { return plan_; }
  const float* packed() const { return packed_.data(); }
  float* scratch() { return scratch_.data(); }
  void Run(const Epilogue& epilogue, Range tiles, Range panels, std::vector<float>& out) {
    RunWinograd(plan_, input(), packed_.data(), epilogue, tiles, panels, out.data(), scratch_.data());
  }
  std::vector<float> RunWhole(const Epilogue& epilogue) {
    std::vector<float> out = Blank();
    Run(epilogue, {0, plan_.tiles}, {0, plan_.panels}, out);
    return out;
  }
  std::vector<float> RunWhole() { return RunWhole(epilogue()); }

  // Returns the bound that winograd.h states, for every output before bias and residual, as [pixel][channel].
  std::vector<double> Bounds() const {
    const ConvShape& s = shape();
    std::vector<double> bounds(static_cast<size_t>(s.out_pixels() * s.out_channels));
    const double roundings = static_cast<double>(s.in_channels + 4 * (plan_.tile + 2) + 2);
    const double unit = std::sqrt(roundings) * std::numeric_limits<float>::epsilon() / 2;
    for (int64_t tile = 0; tile < plan_.tiles; ++tile) {
      const std::vector<WinogradSquare> inputs = InputsOf(tile);
      for (int64_t m = 0; m < s.out_channels; ++m) {
        const WinogradSquare magnitude = Magnitude(inputs, m);
        ForPixels(tile, [&](int y, int x, int64_t pixel) {
          bounds[static_cast<size_t>(pixel * s.out_channels + m)] = unit * std::sqrt(magnitude[y][x]);
        });
      }
    }
    return bounds;
  }

  // Checks the outputs after bias, residual and activation. Activations amplify an error by at most 1.13
  // (Swish, Gelu, Mish).
  void CheckWithin(const std::vector<float>& out, const std::vector<double>& bounds) const {
    Check(out, [&](int64_t p, int64_t m, const Sums& sums) {
      return 1.2 * bounds[static_cast<size_t>(p * shape().out_channels + m)] +
             SumTolerance(2, std::abs(sums.sum) + 2);
    });
  }

 private:
  template <class F>
  void ForPixels(int64_t tile, const F& f) const {
    const ConvShape& s = shape();
    const int64_t image = tile / (plan_.tile_rows * plan_.tile_columns), m = plan_.tile;
    const int64_t top = tile / plan_.tile_columns % plan_.tile_rows * m, left = tile % plan_.tile_columns * m;
    for (int y = 0; y < m && top + y < s.out_height; ++y)
      for (int x = 0; x < m && left + x < s.out_width; ++x)
        f(y, x, (image * s.out_height + top + y) * s.out_width + left + x);
  }

  // Returns |B^T| |d| |B| for every channel of a tile.
  std::vector<WinogradSquare> InputsOf(int64_t tile) const {
    const ConvShape& s = shape();
    const int64_t stride = s.in_pixel_stride ? s.in_pixel_stride : s.in_channels, m = plan_.tile;
    const int64_t image = tile / (plan_.tile_rows * plan_.tile_columns);
    const int64_t top = tile / plan_.tile_columns % plan_.tile_rows * m - s.pad_top,
                  left = tile % plan_.tile_columns * m - s.pad_left;
    std::vector<WinogradSquare> inputs;
    for (int64_t c = 0; c < s.in_channels; ++c) {
      WinogradSquare d = {};
      for (int64_t y = std::max<int64_t>(0, -top); y < m + 2 && top + y < s.in_height; ++y)
        for (int64_t x = std::max<int64_t>(0, -left); x < m + 2 && left + x < s.in_width; ++x)
          d[y][x] = std::abs(
              double{input()[((image * s.in_height + top + y) * s.in_width + left + x) * stride + c]});
      const auto around = [&](auto matrices) {
        return Around(matrices.kInput, d, [](double a) { return std::abs(a); });
      };
      inputs.push_back(WithWinograd(plan_.tile, around));
    }
    return inputs;
  }

  // Returns the sum under the square root of the bound, for every output of a tile.
  WinogradSquare Magnitude(const std::vector<WinogradSquare>& inputs, int64_t channel) const {
    return WithWinograd(plan_.tile, [&](auto matrices) {
      WinogradSquare products = {};
      for (size_t c = 0; c < inputs.size(); ++c) {
        WinogradSquare g = {};
        for (int i = 0; i < 9; ++i)
          g[i / 3][i % 3] = weights()[(channel * shape().in_channels + static_cast<int64_t>(c)) * 9 + i];
        const WinogradSquare u = Around(matrices.kWeights, g, [](double a) { return a; });
        for (int i = 0; i < 64; ++i)
          products[i / 8][i % 8] += std::abs(u[i / 8][i % 8]) * inputs[c][i / 8][i % 8];
      }
      for (auto& row : products)
        for (double& p : row) p *= p;
      return Around(matrices.kOutput, products, [](double a) { return a * a; });
    });
  }

  WinogradPlan plan_;
  std::vector<float> packed_, scratch_;
};

inline ConvShape Three(int64_t batch, int64_t h, int64_t w, int64_t c, int64_t n, int64_t pad_top,
                       int64_t pad_left) {
  return Sized({batch, h, w, c, 1, 1, n, 3, 3, 1, 1, 1, 1, pad_top, pad_left, 1}, pad_top, pad_left);
}

// Returns shapes with sizes that are not multiples of a tile, channels that are not multiples of a vector or
// a panel, and paddings of 0, 1 and 2.
inline std::vector<ConvShape> WinogradShapes() {
  std::vector<ConvShape> shapes = {
      Three(1, 3, 3, 1, 1, 0, 0),
      Three(1, 1, 1, 3, 5, 1, 1),
      Three(1, 5, 7, 3, 8, 1, 1),
      Three(2, 9, 6, 17, 33, 1, 1),
      Three(1, 12, 12, 16, 32, 1, 1),
      Three(1, 14, 13, 20, 37, 0, 0),
      Three(2, 7, 8, 33, 70, 2, 2),
      Three(1, 4, 19, 5, 6, 2, 0),
      Three(1, 8, 8, 300, 9, 1, 1),
      Three(3, 26, 3, 8, 65, 0, 1),
      Sized({1, 7, 6, 10, 1, 1, 14, 3, 3, 1, 1, 1, 1, 1, 0, 1}, 2, 0),
  };
  shapes.push_back(Three(1, 15, 6, 10, 14, 1, 1));
  shapes.back().in_pixel_stride = 13;
  shapes.back().out_pixel_stride = 19;
  return shapes;
}

}  // namespace mete
