// Convolution over NHWC as text, as an implicit product: no im2col. A matrix product is a convolution with a
// 1x1 kernel over the pixels of an image, a batch of products one in which each image has its own weights.
//   output[n, y, x, m] = activation(scale * sum over taps and channels of input * weight + bias[m] + residual)
//
// A work-item computes a tile of pixels and channels in registers (tile.h). Its weights lie in panels: for
// each group (and image) the channels of a few tiles, step by step over the taps (rows first) and the input
// channels. Behind all panels follow the bias (f32) and zeros, which stand for pixels in the padding. Where
// the tile does not divide an image, the last tile overlaps its neighbour and computes the same values again.
#pragma once

#include <optional>

#include "kernels/fast/conv/conv.h"
#include "processor/opencl/kernels/kernel_text.h"
#include "processor/opencl/kernels/tile.h"

namespace mete::opencl {

// Sums of bytes: an input stands for (byte - input_zero), and so does the padding, which is 0. Weights are
// packed minus their zero point. Output m is a number of f32,
//   v = scale[m] * float(sum + bias[m])
// or a byte, round(v) within [least, most], halves to the even number, plus output_zero: ONNX's QLinearConv.
// Sums are exact with `whole`, and without it where for each output the sum of |weight| times 255 is at most
// 2^24; otherwise each multiply-add rounds to f32, and a byte may be the next one.
struct ByteSums {
  bool whole = false;  // sums of int, not of f32
  int32_t input_zero = 0, output_zero = 0;
  float least = 0, most = 255;  // in steps from output_zero
};

struct ConvSpec {
  ConvShape shape;  // with the output's size; see SizedProduct() for products
  DType input = DType::kF32, weights = DType::kF32;
  DType output = DType::kF32;  // of the residual, too
  Activation activation;
  bool residual = false;
  int64_t residual_stride = 0;  // elements from a pixel of the residual to the next; 0: output channels
  // Elements from the begin of a buffer to the first channel: slices of a concatenation, together with
  // in_pixel_stride and out_pixel_stride of the shape.
  int64_t input_first = 0, output_first = 0;
  int64_t input_image = 0, output_image = 0;  // elements from an image to the next; 0: those of its pixels
  // Input and output are u8 or i8, or the output is f32; weights are packed as i8, or as f16 if weights minus
  // their zero point are no i8. There is no activation, residual or `scale`.
  std::optional<ByteSums> bytes;
  float scale = 1;
  bool weights_per_image = false;  // image n has weights of its own: products of batches
};

// Returns the product of `batch` matrices: input [batch][m][k], weights as PackSource says, output
// [batch][m][n]. With weights_per_image each has weights of its own.
ConvShape SizedProduct(int64_t batch, int64_t m, int64_t n, int64_t k);

// Returns the same convolution with as few dimensions as possible: a 1x1 kernel over all pixels sees one row
// of them. ConvKernel() and ConvTiles() call it.
ConvSpec Flattened(const ConvSpec& spec);

// Returns TileCandidates() for the convolution.
std::vector<Tile> ConvTiles(const ConvSpec& spec, const TileDevice& device);

// Where the parts of the packed weights begin, in bytes.
struct PackedConv {
  int64_t panel_channels = 0;  // in a row of a panel
  int64_t panels = 0;          // of one group of one image
  int64_t steps = 0;           // rows of a panel: taps * input channels of a group
  int64_t sets = 1;            // groups, times images with weights of their own
  int64_t bias_at = 0, scale_at = 0, zeros_at = 0, bytes = 0;  // `scale_at`: of sums of bytes
};
PackedConv PackedSizes(const ConvSpec& spec, const Tile& tile);

// Arguments: input, packed weights, residual (if there is one), output. The residual must not be the output.
// The tile is one of ConvTiles(), or any with rows and columns within the output of Flattened(spec).
KernelText ConvKernel(const ConvSpec& spec, const Tile& tile);

// The order of weights in memory: the distance in elements between neighbours.
struct PackSource {
  DType type = DType::kF32;
  int64_t image = 0;                           // with weights_per_image
  int64_t group = 0;                           // 0: that of `output`, times the outputs of a group
  int64_t image_repeat = 1, group_repeat = 1;  // neighbours that have the same weights
  int64_t output = 0, channel = 0, tap_row = 0, tap = 0;
  bool bias = false;  // f32, or i32 of sums of bytes; one for each output channel
  int32_t zero = 0;   // of weights that are bytes, for sums of bytes
};
PackSource OnnxWeights(const ConvShape& shape, bool bias);  // [M][C / group][kH][kW]
PackSource RowsOfK(int64_t k, int64_t n, bool bias);        // B of a product as [batch][k][n]
PackSource RowsOfN(int64_t k, int64_t n, bool bias);        // B transposed, [batch][n][k]

// Packs weights on the device. Arguments: weights, for sums of bytes the scales (f32, one for each output
// channel), bias (if there is one), packed weights (PackedConv::bytes).
KernelText PackKernel(const ConvSpec& spec, const Tile& tile, const PackSource& from);

}  // namespace mete::opencl
