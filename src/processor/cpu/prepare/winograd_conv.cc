#include "processor/cpu/prepare/winograd_conv.h"

namespace mete {
namespace {

// Bytes. This value is a guess: the part of a third-level cache that one layer may fill. Above it, Winograd
// is computed in passes.
constexpr size_t kMostStages = 8 << 20;

size_t RoundedUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

WinogradConv::WinogradConv(const ConvShape& shape, int m, bool other_side, const Pack& pack, ThreadPool& pool)
    : pool_(pool), plan_(PlanWinograd(shape, m)), packed_(pack(plan_)) {
  const int64_t transformed = plan_.positions * plan_.tiles * shape.in_channels,
                packed_bytes = int64_t(packed_.bytes());
  const int64_t row_bytes = (transformed + shape.out_pixels() * shape.out_channels) * int64_t{sizeof(float)};
  const size_t stages = RoundedUp(TransformedWinogradBytes(plan_)) + WinogradProductsBytes(plan_);
  // Passes read all weights for each range of tiles; stages write and read the transformed values and the
  // products in memory. (Measured on two equal cores: the same within the noise for 128 channels of 28x28 and
  // 256 of 14x14, a quarter to a third less time in stages for 512 of 7x7.)
  const bool weights_larger = packed_bytes > row_bytes;
  in_stages_ = pool_.step_threads() > 1 && stages <= kMostStages && weights_larger != other_side;
  if (in_stages_) {
    pool_.ReserveShared(int64_t(stages));
    return;
  }
  grid_ = MakeGrid({plan_.tiles, plan_.gemm.row_step, row_bytes, plan_.panels, packed_bytes},
                   pool_.step_speeds());
  pool_.ReserveScratch(int64_t(WinogradScratchBytes(plan_)));
}

template <class Pass, class First, class Last>
void WinogradConv::RunEither(const Pass& pass, const First& first, const Last& last) {
  if (!in_stages_)
    return pool_.For(
        grid_.blocks(),
        [&](int worker, int64_t begin, int64_t end) {
          auto* scratch = reinterpret_cast<float*>(pool_.scratch(worker));
          grid_.ForPieces(begin, end, [&](Range tiles, Range panels) { pass(tiles, panels, scratch); });
        },
        grid_.run());
  std::byte* memory = pool_.shared();
  const WinogradStages stages{reinterpret_cast<float*>(memory),
                              reinterpret_cast<float*>(memory + RoundedUp(TransformedWinogradBytes(plan_)))};
  pool_.For(plan_.tiles, [&](int, int64_t begin, int64_t end) { first(Range{begin, end}, stages); });
  pool_.For(plan_.positions * plan_.panels, [&](int, int64_t begin, int64_t end) {
    MultiplyWinograd(plan_, packed_.as<float>(), {begin, end}, stages);
  });
  pool_.For(plan_.tiles, [&](int, int64_t begin, int64_t end) { last(Range{begin, end}, stages); });
}

void WinogradConv::Run(const float* input, const Epilogue& epilogue, float* output) {
  RunEither(
      [&](Range tiles, Range panels, float* scratch) {
        RunWinograd(plan_, input, packed_.as<float>(), epilogue, tiles, panels, output, scratch);
      },
      [&](Range tiles, const WinogradStages& s) { TransformWinograd(plan_, input, tiles, s); },
      [&](Range tiles, const WinogradStages& s) { FinishWinograd(plan_, s, epilogue, tiles, output); });
}

void WinogradConv::Run(const WinogradBytes& bytes) {
  RunEither([&](Range tiles, Range panels,
                float* scratch) { RunWinograd(plan_, bytes, packed_.as<float>(), tiles, panels, scratch); },
            [&](Range tiles, const WinogradStages& s) { TransformWinograd(plan_, bytes, tiles, s); },
            [&](Range tiles, const WinogradStages& s) { FinishWinograd(plan_, s, bytes, tiles); });
}

int64_t WinogradConv::computed_flops() const {
  return 2 * plan_.positions * plan_.tiles * plan_.shape.in_channels * plan_.shape.out_channels;
}

}  // namespace mete
