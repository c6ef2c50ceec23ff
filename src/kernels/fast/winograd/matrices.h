// The matrices of Winograd's minimal filtering F(m, 3), which computes m outputs of a 3-tap filter from
// T = m + 2 inputs with T products,
//   y = A^T [(G g) * (B^T d)]
// (Lavin & Gray 2016, "Fast Algorithms for Convolutional Neural Networks"). The interpolation points are 0,
// 1, -1, then 2, -2 (m >= 4), 1/2, -1/2 (m = 6), and infinity. Rows 2k+1 and 2k+2 belong to the points p and
// -p, so that one row is the sum and the other the difference of the same two parts: the part over inputs
// with even numbers and the part over inputs with odd numbers. transform-inl.h relies on this structure.
#pragma once

namespace mete {

template <int M>
struct WinogradMatrices;

template <>
struct WinogradMatrices<2> {
  static constexpr double kInput[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}};  // B^T
  static constexpr double kWeights[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};  // G
  static constexpr double kOutput[2][4] = {{1, 1, 1, 0}, {0, 1, -1, 1}};                               // A^T
};

template <>
struct WinogradMatrices<4> {
  static constexpr double kInput[6][6] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
                                          {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
  static constexpr double kWeights[6][3] = {{1. / 4, 0, 0},
                                            {-1. / 6, -1. / 6, -1. / 6},
                                            {-1. / 6, 1. / 6, -1. / 6},
                                            {1. / 24, 1. / 12, 1. / 6},
                                            {1. / 24, -1. / 12, 1. / 6},
                                            {0, 0, 1}};
  static constexpr double kOutput[4][6] = {
      {1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};
};

template <>
struct WinogradMatrices<6> {
  static constexpr double kInput[8][8] = {
      {1, 0, -5.25, 0, 5.25, 0, -1, 0},      {0, 1, 1, -4.25, -4.25, 1, 1, 0},
      {0, -1, 1, 4.25, -4.25, -1, 1, 0},     {0, 0.5, 0.25, -2.5, -1.25, 2, 1, 0},
      {0, -0.5, 0.25, 2.5, -1.25, -2, 1, 0}, {0, 2, 4, -2.5, -5, 0.5, 1, 0},
      {0, -2, 4, 2.5, -5, -0.5, 1, 0},       {0, -1, 0, 5.25, 0, -5.25, 0, 1}};
  static constexpr double kWeights[8][3] = {{1, 0, 0},
                                            {-2. / 9, -2. / 9, -2. / 9},
                                            {-2. / 9, 2. / 9, -2. / 9},
                                            {1. / 90, 1. / 45, 2. / 45},
                                            {1. / 90, -1. / 45, 2. / 45},
                                            {32. / 45, 16. / 45, 8. / 45},
                                            {32. / 45, -16. / 45, 8. / 45},
                                            {0, 0, 1}};
  static constexpr double kOutput[6][8] = {{1, 1, 1, 1, 1, 1, 1, 0},
                                           {0, 1, -1, 2, -2, 0.5, -0.5, 0},
                                           {0, 1, 1, 4, 4, 0.25, 0.25, 0},
                                           {0, 1, -1, 8, -8, 0.125, -0.125, 0},
                                           {0, 1, 1, 16, 16, 0.0625, 0.0625, 0},
                                           {0, 1, -1, 32, -32, 0.03125, -0.03125, 1}};
};

// Calls f(WinogradMatrices<m>{}) for an m that is known at run time: 2, 4 or 6.
template <class F>
decltype(auto) WithWinograd(int m, F&& f) {
  if (m == 2) return f(WinogradMatrices<2>{});
  if (m == 4) return f(WinogradMatrices<4>{});
  return f(WinogradMatrices<6>{});
}

}  // namespace mete
