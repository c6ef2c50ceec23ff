// The bounds that winograd.h states, before the data are known.
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "kernels/fast/winograd/matrices.h"
#include "kernels/fast/winograd/winograd.h"

namespace mete {
namespace {

template <class Row>
double SumOfMagnitudes(const Row& row) {
  double sum = 0;
  for (const double a : row) sum += std::abs(a);
  return sum;
}

}  // namespace

double WinogradGrowth(int m) {
  return WithWinograd(m, [](auto matrices) {
    double largest = 0;
    for (const auto& output : matrices.kOutput) {
      double sum = 0;
      for (size_t p = 0; p < std::size(output); ++p)
        sum +=
            std::abs(output[p]) * SumOfMagnitudes(matrices.kInput[p]) * SumOfMagnitudes(matrices.kWeights[p]);
      largest = std::max(largest, sum);
    }
    return largest * largest;
  });
}

double WinogradLevels(int m, int64_t channels, double input, std::span<const double, 9> weights,
                      double scale) {
  return WithWinograd(m, [&](auto matrices) {
    constexpr size_t T = std::size(matrices.kInput), M = std::size(matrices.kOutput);
    // Squares of the sums over channels of the products of each position.
    double squares[T][T];
    for (size_t p = 0; p < T; ++p)
      for (size_t q = 0; q < T; ++q) {
        double sum = 0;
        for (size_t k = 0; k < 9; ++k)
          sum += std::abs(matrices.kWeights[p][k / 3] * matrices.kWeights[q][k % 3]) * weights[k];
        sum *= input * SumOfMagnitudes(matrices.kInput[p]) * SumOfMagnitudes(matrices.kInput[q]);
        squares[p][q] = sum * sum;
      }
    double largest = 0;
    for (size_t i = 0; i < M; ++i)
      for (size_t j = 0; j < M; ++j) {
        double sum = 0;
        for (size_t p = 0; p < T; ++p)
          for (size_t q = 0; q < T; ++q) {
            const double a = matrices.kOutput[i][p] * matrices.kOutput[j][q];
            sum += a * a * squares[p][q];
          }
        largest = std::max(largest, sum);
      }
    const double roundings = double(channels) + 4 * double(T) + 2;
    return std::sqrt(roundings * largest) * std::numeric_limits<float>::epsilon() / 2 * std::abs(scale);
  });
}

}  // namespace mete
