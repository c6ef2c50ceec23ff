// Products of few rows with a matrix as text: language models that make one token, and fully connected layers
// of one image. They wait for the weights, which are read once from memory, in the order that the model has.
//   output[b, i, n] = activation(scale * sum over k of input[b, i, k] * weights[b, k, n] + bias[n] +
//                                residual[b, i, n])
#pragma once

#include "base/fused.h"
#include "processor/opencl/kernels/kernel_text.h"
#include "processor/opencl/kernels/tile.h"

namespace mete::opencl {

struct MatVecSpec {
  int64_t batch = 1, rows = 1, n = 1, k = 1;  // of products; the rows are at most kMostRows
  bool rows_of_n = false;                     // weights lie as [batch][n][k], else as [batch][k][n]
  DType input = DType::kF32, weights = DType::kF32;
  DType output = DType::kF32;  // of the residual, too
  Activation activation;
  bool bias = false, residual = false;  // the bias is f32
  float scale = 1;

  static constexpr int64_t kMostRows = 8;  // of sums in registers beside each other; ConvKernel takes more
};

struct MatVecTile {
  int vector = 4;   // elements that are read at once: along K with rows_of_n, else along N
  int outputs = 4;  // of a work-item: columns with rows_of_n, else vectors of columns
  int lanes = 1;    // work-items that divide K among themselves, a power of two
  int columns = 1;  // without rows_of_n: neighbours in a work-group with other columns
};

// Arguments: input, weights, bias and residual (if there is one), output. The tile becomes smaller where it
// is larger than the product.
KernelText MatVecKernel(const MatVecSpec& spec, const MatVecTile& tile);

MatVecTile ChooseMatVecTile(const MatVecSpec& spec, const TileDevice& device);

}  // namespace mete::opencl
