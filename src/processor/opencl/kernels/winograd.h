// 3x3 convolutions of stride 1 by Winograd's minimal filtering as text; kernels/fast/winograd/winograd.h has
// the method and its error. Three launches compute some tiles of m x m outputs, T = m + 2:
//   WinogradInputKernel    input (NHWC)            to transformed inputs [T^2][tiles][channels]
//   ConvKernel             of WinogradProduct()    to products           [T^2][tiles][output channels]
//   WinogradOutputKernel   products                to output (NHWC), with the epilogue
// Transformed inputs and products are f32. Tiles are independent, so that a caller bounds this memory, and
// keeps it in a cache, by computing some of them after the others.
#pragma once

#include "processor/opencl/kernels/convolution.h"

namespace mete::opencl {

struct WinogradSpec {
  ConvSpec conv;                      // `scale` is 1, `weights` is f32
  bool bias = false;                  // f32
  int m = 4;                          // or 2
  int64_t first_tile = 0, tiles = 0;  // of WinogradTiles(); numbered over batch, rows, columns
};

// Returns whether the kernels compute the convolution: as TakesWinograd() of the CPU, in whole numbers of
// f32.
bool TakesWinogradOnGpu(const ConvSpec& spec);

// Returns the m that is faster than ConvKernel(), or 0.
int ChooseWinograd(const ConvSpec& spec);

// Returns the number of tiles of the whole output.
int64_t WinogradTiles(const ConvShape& shape, int m);

// Returns the product of the transformed inputs with the transformed weights: a batch of T^2 products.
ConvSpec WinogradProduct(const WinogradSpec& spec);

// Transforms and packs the weights for a tile of WinogradProduct(). Each packed weight is the transformed one
// in twice the precision, rounded once. Arguments: weights as in ONNX, packed weights (PackedSizes() of the
// product).
KernelText WinogradPackKernel(const WinogradSpec& spec, const Tile& tile);

// Arguments: input, transformed inputs. `vector`: channels of a work-item, at most.
KernelText WinogradInputKernel(const WinogradSpec& spec, int vector);

// Arguments: products, bias and residual (if there is one), output.
KernelText WinogradOutputKernel(const WinogradSpec& spec, int vector);

}  // namespace mete::opencl
