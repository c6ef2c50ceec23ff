#include "kernels/fast/winograd/winograd_code.h"

#include <algorithm>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/winograd/winograd_code.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/target/name-inl.h"
#include "kernels/fast/winograd/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

template <int M, class Element, class Source>
HWY_INLINE void ForwardAll(const InputTile<Element>& t, const Source& load, int64_t channels, float* to,
                           int64_t position_stride) {
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  constexpr int T = M + 2;
  int64_t c = 0;
  if (t.rows.begin == 0 && t.rows.end == T && t.columns.begin == 0 && t.columns.end == T) {
    for (; c + kStep <= channels; c += kStep)
      ForwardVector<M, true>(t, load, c, kLanes, to + c, position_stride);
  }
  for (; c < channels; c += kStep) {
    ForwardVector<M, false>(t, load, c, static_cast<size_t>(std::min(kStep, channels - c)), to + c,
                            position_stride);
  }
}

template <int M>
HWY_NOINLINE void ForwardTile(const InputTile<float>& t, int64_t channels, float* to,
                              int64_t position_stride) {
  ForwardAll<M>(t, FloatSource(), channels, to, position_stride);
}

template <int M>
HWY_NOINLINE void ForwardByteTile(const InputTile<uint8_t>& t, const WinogradBytes& bytes, int64_t channels,
                                  float* to, int64_t position_stride) {
  ForwardAll<M>(t, ByteSource(bytes.signed_input, bytes.input_zero), channels, to, position_stride);
}

// `more`: what the sink takes beside the tile and the channels.
template <int M, template <bool> class Sink, class Tile, class... More>
HWY_INLINE void BackwardAll(const Tile& t, int64_t channels, const float* from, int64_t position_stride,
                            const More&... more) {
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  int64_t c = 0;
  if (t.rows == M && t.columns == M) {
    for (; c + kStep <= channels; c += kStep)
      BackwardVector<M, true>(M, M, from + c, position_stride, Sink<true>(t, c, kLanes, more...));
  }
  for (; c < channels; c += kStep) {
    const Sink<false> put(t, c, static_cast<size_t>(std::min(kStep, channels - c)), more...);
    BackwardVector<M, false>(t.rows, t.columns, from + c, position_stride, put);
  }
}

template <int M>
HWY_NOINLINE void BackwardTile(const OutputTile& t, const Activation& activation, int64_t channels,
                               const float* from, int64_t position_stride) {
  const ClampBounds bounds = BoundsOf(activation);
  BackwardAll<M, FloatSink>(t, channels, from, position_stride, Num(bounds.low), Num(bounds.high));
  if (IsClamp(activation.op)) return;
  for (int y = 0; y < t.rows; ++y) {
    float* out = t.output + y * t.row_stride;
    const size_t columns = static_cast<size_t>(t.columns), stride = static_cast<size_t>(t.pixel_stride);
    ActivateRows(activation, {columns, static_cast<size_t>(channels), stride}, out, out);
  }
}

template <int M>
HWY_NOINLINE void BackwardByteTile(const ByteOutputTile& t, const WinogradBytes& bytes, int64_t channels,
                                   const float* from, int64_t position_stride) {
  const Levels levels(bytes.least, bytes.most, bytes.signed_output, bytes.zero);
  BackwardAll<M, ByteSink>(t, channels, from, position_stride, levels);
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
                                        {ForwardByteTile<2>, ForwardByteTile<4>},
                                        {BackwardByteTile<2>, BackwardByteTile<4>},
                                        {PackVector<2>, PackVector<4>, PackVector<6>}};
  return &code;
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(GetWinogradCode);

const WinogradCode* BestWinogradCode() { return HWY_DYNAMIC_DISPATCH(GetWinogradCode)(); }

}  // namespace mete
#endif  // HWY_ONCE
