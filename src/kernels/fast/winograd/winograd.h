// 3x3 convolutions of stride 1 in f32 over NHWC by Winograd's minimal filtering (Lavin & Gray 2016, "Fast
// Algorithms for Convolutional Neural Networks"). F(m x m, 3x3) for m = 2, 4, 6 computes m x m outputs from a
// tile of T x T inputs, T = m + 2, with T^2 instead of 9 m^2 multiplications, which is 2.25, 4 and 5.06 times
// fewer.
//
// A pass over some tiles has three steps. It transforms the input (B^T d B) into T^2 matrices
// [tiles][channels]. It multiplies each matrix with its own packed weights (G g G^T; RunGemm). It transforms
// the products (A^T M A) and writes them with their epilogue. The caller plans once and packs the weights
// once; then it computes any blocks on any threads, and the bits do not depend on the blocks. An input that
// is not finite makes all outputs of the tiles that read it wrong.
//
// Error. Let u = 2^-24, C the number of channels, and for the positions p, q of a tile
//   P[p,q] = sum over channels of |G g G^T|[p,q] (|B^T| |d| |B|)[p,q]
// Each product goes through at most C + r roundings: one for each channel, and r = 4 T + 2 outside that sum
// (each of four one-dimensional transforms adds up to T terms; one rounding is for the packed weight, one for
// the product). So for output (i, j) of a tile this bound always holds (to first order in u):
//   |error| <= (C + r) u  sum over p, q of |A^T[i,p] A^T[j,q]| P[p,q]
// If the roundings are independent, this bound holds:
//   |error| <= sqrt(C + r) u  sqrt(sum over p, q of (A^T[i,p] A^T[j,q] P[p,q])^2)
// up to a factor that depends on the desired confidence (Higham & Mary 2019, "A New Approach to Probabilistic
// Rounding Error Analysis"; the factor is 1 here). The second bound is the stated bound, which
// winograd_test.cc checks. Before the data are known, the sum in the first bound is at most
//   WinogradGrowth(m) * sum over channels of max|g| max|d|
// The growth is the square of max over i of sum over p of |A^T[i,p]| sum|G[p]| sum|B^T[p]|, which is 64, 2304
// and 4579 for m = 2, 4, 6. A plain sum of products has a growth of 9.
//
// Bytes. The convolution also takes and gives bytes, with sums in f32: each input minus its zero point, and
// each weight, is exact as a float, so the error of a sum is the one above. With the scale of the output's
// channel it becomes the error in levels. An output differs from that of the exact sum only where the scaled
// sum is as near to the middle between two levels as this error, and then by one level as long as the error
// is below one level. Usual errors are a hundredth of the bound in levels (WinogradLevels).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/fast/conv/conv.h"
#include "kernels/fast/gemm/gemm.h"

namespace mete {

struct WinogradCode;

struct WinogradPlan {
  ConvShape shape;
  int tile = 0;       // m, the number of outputs along a tile's side
  int positions = 0;  // T^2
  // Tile rows and tile columns of one image, and tiles of the whole batch. A `Range tiles` below counts these
  // tiles.
  int64_t tile_rows = 0, tile_columns = 0, tiles = 0;
  int64_t panels = 0;  // panels of output channels
  int64_t pass = 0;    // tiles of one pass
  GemmPlan gemm;       // the product of one position
  const WinogradCode* code = nullptr;
};

// Returns whether the convolution is 3x3 with stride 1, no dilation and one group.
bool TakesWinograd(const ConvShape& shape);

// Plans a convolution that TakesWinograd() accepts, for m = 2, 4 or 6.
WinogradPlan PlanWinograd(const ConvShape& shape, int m);

const char* TargetOf(const WinogradPlan& plan);

double WinogradGrowth(int m);

// Packs the weights of the given panels. `weights` is [out_channels][in_channels][3][3] as in ONNX, from the
// output channel `first` on. The weights are transformed in double and rounded once. `packed` has
// PackedWinogradBytes() bytes, best aligned to 64 bytes.
size_t PackedWinogradBytes(const WinogradPlan& plan);
void PackWinograd(const WinogradPlan& plan, const float* weights, Range panels, float* packed,
                  int64_t first = 0);

// Returns the size of one thread's working memory, which does not depend on the block. Its contents need not
// survive a call.
size_t WinogradScratchBytes(const WinogradPlan& plan);

// Computes the tiles `tiles` (numbered over batch, tile rows, tile columns) and the output channels of
// `panels`. `input`, `output` and the epilogue's pointers are those of the whole tensors; the input and the
// output must not overlap. `scratch` has WinogradScratchBytes() bytes, best aligned to 64 bytes, and no other
// thread uses it during the call.
void RunWinograd(const WinogradPlan& plan, const float* input, const float* packed, const Epilogue& epilogue,
                 Range tiles, Range panels, float* output, float* scratch);

// The inputs and outputs of a convolution of bytes; all pointers are to whole tensors. The arrays have one
// element for each output channel.
struct WinogradBytes {
  const uint8_t* input = nullptr;
  bool signed_input = false;
  int32_t input_zero = 0;
  // Bytes = clamp(round((sum + bias) * scale), least, most) + zero, halves to the even number.
  const float *bias = nullptr, *scale = nullptr;
  float least = 0, most = 0;  // in steps from the zero point
  int32_t zero = 0;
  bool signed_output = false;
  const uint8_t* table = nullptr;  // 256 bytes through which the outputs go; may be null
  uint8_t* output = nullptr;
};

// The same for bytes. `plan` is that of m = 2 or 4, and the weights are packed minus their zero points.
void RunWinograd(const WinogradPlan& plan, const WinogradBytes& bytes, const float* packed, Range tiles,
                 Range panels, float* scratch);

// The same computation in three steps, TransformWinograd(), MultiplyWinograd() and FinishWinograd(), which
// threads may divide differently. Each step starts after all of the step before. Nothing is computed or read
// twice, but the intermediate matrices go through memory. The steps are for layers with large weights and few
// tiles. Any division gives the bits of RunWinograd().
struct WinogradStages {
  float* transformed;  // TransformedWinogradBytes() bytes, best aligned to 64 bytes
  float* products;     // WinogradProductsBytes() bytes, best aligned to 64 bytes
};
size_t TransformedWinogradBytes(const WinogradPlan& plan);
size_t WinogradProductsBytes(const WinogradPlan& plan);
void TransformWinograd(const WinogradPlan& plan, const float* input, Range tiles,
                       const WinogradStages& stages);
// `matrices` is a range of 0 .. positions * panels, in which the panels of one position are next to each
// other. No two of these matrices read the same weights.
void MultiplyWinograd(const WinogradPlan& plan, const float* packed, Range matrices,
                      const WinogradStages& stages);
void FinishWinograd(const WinogradPlan& plan, const WinogradStages& stages, const Epilogue& epilogue,
                    Range tiles, float* output);
void TransformWinograd(const WinogradPlan& plan, const WinogradBytes& bytes, Range tiles,
                       const WinogradStages& stages);
void FinishWinograd(const WinogradPlan& plan, const WinogradStages& stages, const WinogradBytes& bytes,
                    Range tiles);

// Returns a bound, in levels, on the error of outputs of one channel: the stated bound, of inputs that are at
// most `input` from their zero point, times the scale. `weights` has, for each tap, the sum over channels of
// the magnitudes of the weights. Inputs of random signs stay a hundred times below it, because it adds the
// magnitudes of all that cancels.
double WinogradLevels(int m, int64_t channels, double input, std::span<const double, 9> weights,
                      double scale);

}  // namespace mete
