#include "kernels/fast/winograd/winograd.h"

#include <algorithm>
#include <cmath>

#include "kernels/fast/target/targets.h"
#include "kernels/fast/tile/tile.h"
#include "kernels/fast/winograd/tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/winograd/winograd.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/target/name-inl.h"
#include "kernels/fast/winograd/transform-inl.h"

#ifndef METE_WINOGRAD_ONCE
#define METE_WINOGRAD_ONCE
namespace mete {

// The matrices of a pass, [position][tile][channel]. The strides are in elements.
struct PassMatrices {
  float* data;
  int64_t row_stride, position_stride;

  PassMatrices From(int64_t tile) const { return {data + tile * row_stride, row_stride, position_stride}; }
};

struct WinogradCode {
  const char* target;
  int64_t lanes;
  // These functions are indexed by m / 2 - 1. The tile's part of the pass begins at `to` or `from`.
  void (*forward[3])(const InputTile&, int64_t channels, float* to, int64_t position_stride);
  void (*backward[3])(const OutputTile&, const Activation&, int64_t channels, const float* from,
                      int64_t position_stride);
  // Packs one vector of `columns` output channels, whose weights begin at `weights`. `to` is the vector's
  // place in a panel of width `stride`.
  void (*pack[3])(const WinogradPlan&, const float* weights, int64_t columns, float* to, int64_t stride);
};

}  // namespace mete
#endif  // METE_WINOGRAD_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

template <int M>
HWY_NOINLINE void ForwardTile(const InputTile& t, int64_t channels, float* to, int64_t position_stride) {
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  constexpr int T = M + 2;
  int64_t c = 0;
  if (t.rows.begin == 0 && t.rows.end == T && t.columns.begin == 0 && t.columns.end == T) {
    for (; c + kStep <= channels; c += kStep) ForwardVector<M, true>(t, c, kLanes, to + c, position_stride);
  }
  for (; c < channels; c += kStep) {
    ForwardVector<M, false>(t, c, static_cast<size_t>(std::min(kStep, channels - c)), to + c,
                            position_stride);
  }
}

template <int M>
HWY_NOINLINE void BackwardTile(const OutputTile& t, const Activation& activation, int64_t channels,
                               const float* from, int64_t position_stride) {
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  const ClampBounds bounds = BoundsOf(activation);
  const V32 low = Num(bounds.low), high = Num(bounds.high);
  int64_t c = 0;
  if (t.rows == M && t.columns == M) {
    for (; c + kStep <= channels; c += kStep)
      BackwardVector<M, true>(t, from + c, position_stride, c, kLanes, low, high);
  }
  for (; c < channels; c += kStep) {
    BackwardVector<M, false>(t, from + c, position_stride, c,
                             static_cast<size_t>(std::min(kStep, channels - c)), low, high);
  }
  if (IsClamp(activation.op)) return;
  for (int y = 0; y < t.rows; ++y) {
    float* out = t.output + y * t.row_stride;
    const size_t columns = static_cast<size_t>(t.columns), stride = static_cast<size_t>(t.pixel_stride);
    ActivateRows(activation, {columns, static_cast<size_t>(channels), stride}, out, out);
  }
}

// Computes the weights U = G g G^T, in double.
template <int M>
void PackVector(const WinogradPlan& plan, const float* weights, int64_t columns, float* to, int64_t stride) {
  constexpr int T = M + 2;
  constexpr int64_t kWidth = static_cast<int64_t>(kLanes);
  const int64_t channels = plan.shape.in_channels,
                position_stride = plan.gemm.split.padded_columns() * channels;
  for (int64_t c = 0; c < channels; ++c, to += stride) {
    double g[9][kWidth] = {}, along_x[3][T][kWidth];
    for (int64_t j = 0; j < columns; ++j) {
      for (int k = 0; k < 9; ++k) g[k][j] = weights[(j * channels + c) * 9 + k];
    }
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < T; ++x) {
        const double* row = WinogradMatrices<M>::kWeights[x];
        for (int64_t j = 0; j < kWidth; ++j) {
          along_x[y][x][j] = row[0] * g[3 * y][j] + row[1] * g[3 * y + 1][j] + row[2] * g[3 * y + 2][j];
        }
      }
    }
    for (int y = 0; y < T; ++y) {
      const double* row = WinogradMatrices<M>::kWeights[y];
      for (int x = 0; x < T; ++x) {
        float* out = to + (y * T + x) * position_stride;
        for (int64_t j = 0; j < kWidth; ++j) {
          out[j] = static_cast<float>(row[0] * along_x[0][x][j] + row[1] * along_x[1][x][j] +
                                      row[2] * along_x[2][x][j]);
        }
      }
    }
  }
}

const WinogradCode* GetWinogradCode() {
  static constexpr WinogradCode code = {TargetName(),
                                        static_cast<int64_t>(kLanes),
                                        {ForwardTile<2>, ForwardTile<4>, ForwardTile<6>},
                                        {BackwardTile<2>, BackwardTile<4>, BackwardTile<6>},
                                        {PackVector<2>, PackVector<4>, PackVector<6>}};
  return &code;
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(GetWinogradCode);

namespace {

int64_t RoundUp(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// Returns matrices whose rows have `channels` values, rounded up to whole vectors. The positions are an odd
// number of cache lines apart, so that the positions of one tile do not all fall into the same set of a
// cache.
PassMatrices Matrices(const WinogradPlan& plan, int64_t tiles, int64_t channels, float* data) {
  const int64_t row = RoundUp(channels, plan.code->lanes);
  return {data, row, RoundUp(tiles * row, 32) + 16};
}

PassMatrices InputMatrices(const WinogradPlan& plan, float* scratch) {
  return Matrices(plan, plan.pass, plan.shape.in_channels, scratch);
}

PassMatrices ProductMatrices(const WinogradPlan& plan, float* scratch) {
  return Matrices(plan, plan.pass, plan.shape.out_channels, scratch);
}

// Returns the transformed inputs of all tiles.
PassMatrices Transformed(const WinogradPlan& plan, float* data) {
  return Matrices(plan, plan.tiles, plan.shape.in_channels, data);
}

PassMatrices Products(const WinogradPlan& plan, float* data) {
  return Matrices(plan, plan.tiles, plan.shape.out_channels, data);
}

int64_t LengthOf(const WinogradPlan& plan, const PassMatrices& m) {
  return plan.positions * m.position_stride;
}

// Returns the number of tiles of a pass. A pass reads all weights once. If the weights fit the second-level
// cache, the matrices of the pass should fit beside them. Otherwise the weights come from a more distant
// level, and the longer the passes, the less often they are read.
int64_t PassLength(const WinogradPlan& plan) {
  // Both constants were measured with AVX-512 and 1.25 MiB of second-level cache, for passes of 8 .. 256
  // tiles. For 56x56x64, whose weights fit, 16 .. 24 tiles are best with m = 4, and 16 .. 96 tiles take the
  // same time with m = 2. For 112x112x128 and 56x56x256, whose weights do not fit, 96 .. 128 tiles are best.
  constexpr int64_t kCache = 960 << 10;
  constexpr int64_t kLongest = 128;
  const int64_t tile_bytes =
      plan.positions * (plan.shape.in_channels + plan.shape.out_channels) * int64_t{sizeof(float)};
  const int64_t left = kCache - static_cast<int64_t>(PackedWinogradBytes(plan)), step = plan.gemm.row_step;
  const int64_t near = left / tile_bytes / step * step;
  return std::min({plan.tiles, kLongest, near >= 2 * step ? near : kLongest});
}

struct TilePlace {
  int64_t image, y, x;  // image, row and column of the tile's first output pixel
};

TilePlace Locate(const WinogradPlan& plan, int64_t tile) {
  const int64_t in_image = tile % (plan.tile_rows * plan.tile_columns);
  return {tile / (plan.tile_rows * plan.tile_columns), in_image / plan.tile_columns * plan.tile,
          in_image % plan.tile_columns * plan.tile};
}

TileRange Inside(int64_t begin, int64_t size, int length) {
  const int64_t first = std::clamp<int64_t>(-begin, 0, length);
  return {static_cast<int>(first), static_cast<int>(std::clamp<int64_t>(size - begin, first, length))};
}

InputTile InputAt(const WinogradPlan& plan, const float* input, int64_t tile) {
  const ConvShape& s = plan.shape;
  const TilePlace p = Locate(plan, tile);
  const int64_t pixel = s.in_pixel_stride ? s.in_pixel_stride : s.in_channels, y = p.y - s.pad_top,
                x = p.x - s.pad_left;
  return {input + ((p.image * s.in_height + y) * s.in_width + x) * pixel, s.in_width * pixel, pixel,
          Inside(y, s.in_height, plan.tile + 2), Inside(x, s.in_width, plan.tile + 2)};
}

OutputTile OutputAt(const WinogradPlan& plan, const Epilogue& e, int64_t tile, int64_t column,
                    float* output) {
  const ConvShape& s = plan.shape;
  const TilePlace p = Locate(plan, tile);
  const int64_t stride = s.out_pixel_stride ? s.out_pixel_stride : s.out_channels;
  const int64_t residual_stride = e.residual_stride ? e.residual_stride : stride;
  const int64_t pixel = (p.image * s.out_height + p.y) * s.out_width + p.x;
  return {output + pixel * stride + column,
          s.out_width * stride,
          stride,
          e.residual ? e.residual + pixel * residual_stride + column : nullptr,
          s.out_width * residual_stride,
          residual_stride,
          e.bias ? e.bias + column : nullptr,
          static_cast<int>(std::min<int64_t>(plan.tile, s.out_height - p.y)),
          static_cast<int>(std::min<int64_t>(plan.tile, s.out_width - p.x))};
}

void Forward(const WinogradPlan& plan, const float* input, Range tiles, const PassMatrices& to) {
  const auto forward = plan.code->forward[plan.tile / 2 - 1];
  for (int64_t t = 0; t < tiles.size(); ++t) {
    forward(InputAt(plan, input, tiles.begin + t), plan.shape.in_channels, to.data + t * to.row_stride,
            to.position_stride);
  }
}

// Computes the product of one position for rows that begin at in.data, and prefetches the weights of the next
// position.
void Multiply(const WinogradPlan& plan, int64_t position, const PassMatrices& in, const float* packed,
              Range rows, Range panels, const PassMatrices& out) {
  const Panels& split = plan.gemm.split;
  const int64_t channels = plan.shape.in_channels;
  const auto weights = [&](int64_t p) {
    return packed + p % plan.positions * split.padded_columns() * channels;
  };
  RunGemm(plan.gemm, in.data + position * in.position_stride, in.row_stride, weights(position), {}, rows,
          panels, out.data + position * out.position_stride, out.row_stride,
          weights(position + 1) + split.Columns(panels.begin).begin * channels);
}

// Transforms products back and writes the outputs of `tiles`. `from` begins with the products of the first
// tile.
void Backward(const WinogradPlan& plan, const PassMatrices& from, const Epilogue& epilogue, Range tiles,
              Range panels, float* output) {
  const int64_t first = plan.gemm.split.Columns(panels.begin).begin;
  const int64_t columns =
      std::min(plan.gemm.split.Columns(panels.end - 1).end, plan.shape.out_channels) - first;
  const auto backward = plan.code->backward[plan.tile / 2 - 1];
  for (int64_t t = 0; t < tiles.size(); ++t) {
    backward(OutputAt(plan, epilogue, tiles.begin + t, first, output), epilogue.activation, columns,
             from.data + t * from.row_stride + first, from.position_stride);
  }
}

}  // namespace

bool TakesWinograd(const ConvShape& s) {
  return s.kernel_height == 3 && s.kernel_width == 3 && s.stride_y == 1 && s.stride_x == 1 &&
         s.dilation_y == 1 && s.dilation_x == 1 && s.groups == 1;
}

WinogradPlan PlanWinograd(const ConvShape& shape, int m) {
  WinogradPlan plan;
  plan.shape = shape;
  plan.tile = m;
  plan.positions = (m + 2) * (m + 2);
  plan.tile_rows = (shape.out_height + m - 1) / m;
  plan.tile_columns = (shape.out_width + m - 1) / m;
  plan.tiles = shape.batch * plan.tile_rows * plan.tile_columns;
  plan.code = HWY_DYNAMIC_DISPATCH(GetWinogradCode)();
  // The products have whole vectors; the values that they write beyond the last channel are never read.
  plan.gemm = PlanGemm(RoundUp(shape.out_channels, plan.code->lanes), shape.in_channels);
  plan.panels = plan.gemm.panels;
  plan.pass = PassLength(plan);
  return plan;
}

const char* TargetOf(const WinogradPlan& plan) { return plan.code->target; }

double WinogradGrowth(int m) {
  return WithWinograd(m, [](auto matrices) {
    double largest = 0;
    for (const auto& output : matrices.kOutput) {
      double sum = 0;
      for (size_t p = 0; p < std::size(output); ++p) {
        double input = 0, weights = 0;
        for (const double b : matrices.kInput[p]) input += std::abs(b);
        for (const double g : matrices.kWeights[p]) weights += std::abs(g);
        sum += std::abs(output[p]) * input * weights;
      }
      largest = std::max(largest, sum);
    }
    return largest * largest;
  });
}

size_t PackedWinogradBytes(const WinogradPlan& plan) {
  return static_cast<size_t>(plan.positions) * PackedGemmBytes(plan.gemm);
}

void PackWinograd(const WinogradPlan& plan, const float* weights, Range panels, float* packed,
                  int64_t first) {
  const int64_t channels = plan.shape.in_channels, lanes = plan.code->lanes;
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    const Range columns = plan.gemm.split.Columns(p);
    for (int64_t n = columns.begin; n < columns.end; n += lanes) {
      plan.code->pack[plan.tile / 2 - 1](
          plan, weights + (n - first) * channels * 9, std::min(lanes, plan.shape.out_channels - n),
          packed + columns.begin * channels + n - columns.begin, plan.gemm.split.Width(p));
    }
  }
}

size_t WinogradScratchBytes(const WinogradPlan& plan) {
  return static_cast<size_t>(LengthOf(plan, InputMatrices(plan, nullptr)) +
                             LengthOf(plan, ProductMatrices(plan, nullptr))) *
         sizeof(float);
}

void RunWinograd(const WinogradPlan& plan, const float* input, const float* packed, const Epilogue& epilogue,
                 Range tiles, Range panels, float* output, float* scratch) {
  if (panels.size() == 0) return;
  const PassMatrices in = InputMatrices(plan, scratch),
                     out = ProductMatrices(plan, scratch + LengthOf(plan, in));
  const EvenPieces passes(tiles.size(), plan.pass);
  for (int64_t i = 0; i < passes.count(); ++i) {
    const Range pass = {tiles.begin + passes[i].begin, tiles.begin + passes[i].end};
    Forward(plan, input, pass, in);
    for (int64_t p = 0; p < plan.positions; ++p) Multiply(plan, p, in, packed, {0, pass.size()}, panels, out);
    Backward(plan, out, epilogue, pass, panels, output);
  }
}

size_t TransformedWinogradBytes(const WinogradPlan& plan) {
  return static_cast<size_t>(LengthOf(plan, Transformed(plan, nullptr))) * sizeof(float);
}

size_t WinogradProductsBytes(const WinogradPlan& plan) {
  return static_cast<size_t>(LengthOf(plan, Products(plan, nullptr))) * sizeof(float);
}

void TransformWinograd(const WinogradPlan& plan, const float* input, Range tiles,
                       const WinogradStages& stages) {
  Forward(plan, input, tiles, Transformed(plan, stages.transformed).From(tiles.begin));
}

void MultiplyWinograd(const WinogradPlan& plan, const float* packed, Range matrices,
                      const WinogradStages& stages) {
  const PassMatrices in = Transformed(plan, stages.transformed), out = Products(plan, stages.products);
  while (matrices.size() > 0) {
    const int64_t position = matrices.begin / plan.panels, first = matrices.begin % plan.panels;
    const Range panels = {first, std::min(plan.panels, first + matrices.size())};
    Multiply(plan, position, in, packed, {0, plan.tiles}, panels, out);
    matrices.begin += panels.size();
  }
}

void FinishWinograd(const WinogradPlan& plan, const WinogradStages& stages, const Epilogue& epilogue,
                    Range tiles, float* output) {
  Backward(plan, Products(plan, stages.products).From(tiles.begin), epilogue, tiles, {0, plan.panels},
           output);
}

}  // namespace mete
#endif  // HWY_ONCE
