// 3x3 convolutions of stride 1 in f32 over NHWC by Winograd's minimal filtering (Lavin & Gray 2016, "Fast
// Algorithms for Convolutional Neural Networks"): F(m x m, 3x3) for m = 2, 4, 6 makes m x m outputs from a
// tile of T x T inputs, T = m + 2, with T^2 instead of 9 m^2 multiplications: 2.25, 4 and 5.06 times fewer.
//
// A pass over some tiles: transform the input (B^T d B) into T^2 matrices [tiles][channels], multiply each
// with its own packed weights (G g G^T; RunGemm), transform the products (A^T M A) and write them with their
// epilogue. As everywhere here: plan, pack once, then any blocks on any threads, with the same bits whatever
// the blocks are. An input that is not finite spoils all outputs of the tiles that read it.
//
// Error. Let u = 2^-24, C the channels, and for the positions p, q of a tile
//   P[p,q] = sum over channels of |G g G^T|[p,q] (|B^T| |d| |B|)[p,q]
// Each product goes through at most C + r roundings: one a channel, and r = 4 T + 2 outside of that sum (each
// of four one-dimensional transforms adds up to T terms; one for the packed weight, one for the product). So
// for output (i, j) of a tile
//   |error| <= (C + r) u  sum over p, q of |A^T[i,p] A^T[j,q]| P[p,q]                      always (to first
//   order in u), and
//   |error| <= sqrt(C + r) u  sqrt(sum over p, q of (A^T[i,p] A^T[j,q] P[p,q])^2)          where roundings
//   are independent,
// up to a factor that depends on how sure one wants to be (Higham & Mary 2019, "A New Approach to
// Probabilistic Rounding Error Analysis"; here 1). The second is the stated bound, held by winograd_test.cc.
// Before data are known: the first sum is at most WinogradGrowth(m) * sum over channels of max|g| max|d|,
// with the growth the square of max over i of sum over p of |A^T[i,p]| sum|G[p]| sum|B^T[p]|: 64, 2304 and
// 4579 for m = 2, 4, 6 (a plain sum of products: 9).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fast/conv/conv.h"
#include "kernels/fast/gemm/gemm.h"

namespace mete {

struct WinogradCode;

struct WinogradPlan {
  ConvShape shape;
  int tile = 0;       // m: outputs along a tile's side
  int positions = 0;  // T^2
  // of an image, and of the batch: what Range tiles below counts
  int64_t tile_rows = 0, tile_columns = 0, tiles = 0;
  int64_t panels = 0;  // of output channels
  int64_t pass = 0;    // tiles that are worked on at a time
  GemmPlan gemm;       // of one position
  const WinogradCode* code = nullptr;
};

// 3x3, stride 1, no dilation, one group.
bool TakesWinograd(const ConvShape& shape);

// Needs TakesWinograd and m of 2, 4, 6.
WinogradPlan PlanWinograd(const ConvShape& shape, int m);

const char* TargetOf(const WinogradPlan& plan);

double WinogradGrowth(int m);

// `weights`: [out_channels][in_channels][3][3], as ONNX has them; transformed in double, rounded once.
// Writes the given panels only. `packed`: PackedWinogradBytes, best aligned to 64 bytes.
size_t PackedWinogradBytes(const WinogradPlan& plan);
void PackWinograd(const WinogradPlan& plan, const float* weights, Range panels, float* packed);

// One thread's working memory, independent of the block; its contents need not survive a call.
size_t WinogradScratchBytes(const WinogradPlan& plan);

// Computes the tiles `tiles` (numbered over batch, tile rows, tile columns) and the output channels of
// `panels`. `input`, `output` and the epilogue's pointers are those of the whole tensors; the input and the
// output do not overlap. `scratch`: WinogradScratchBytes, best aligned to 64 bytes, not shared with another
// thread's call.
void RunWinograd(const WinogradPlan& plan, const float* input, const float* packed, const Epilogue& epilogue,
                 Range tiles, Range panels, float* output, float* scratch);

// The same in three steps that threads divide differently, each after all of the one before. Nothing is
// computed or read twice, but what is between the steps goes through memory: for layers of large weights and
// few tiles. Any division gives the bits of RunWinograd.
struct WinogradStages {
  float* transformed;  // TransformedWinogradBytes, best aligned to 64 bytes
  float* products;     // WinogradProductsBytes, likewise
};
size_t TransformedWinogradBytes(const WinogradPlan& plan);
size_t WinogradProductsBytes(const WinogradPlan& plan);
void TransformWinograd(const WinogradPlan& plan, const float* input, Range tiles,
                       const WinogradStages& stages);
// `matrices`: of 0 .. positions * panels, those of a position next to each other; each reads weights that no
// other does.
void MultiplyWinograd(const WinogradPlan& plan, const float* packed, Range matrices,
                      const WinogradStages& stages);
void FinishWinograd(const WinogradPlan& plan, const WinogradStages& stages, const Epilogue& epilogue,
                    Range tiles, float* output);

}  // namespace mete
