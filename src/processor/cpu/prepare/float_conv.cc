#include "processor/cpu/prepare/float_conv.h"

#include <fmt/format.h>

#include "processor/cpu/prepare/tuner.h"
#include "processor/cpu/prepare/weight_rows.h"

namespace mete {
namespace {

int64_t SumLength(const ConvShape& s) { return s.in_channels / s.groups * s.kernel_height * s.kernel_width; }

// Returns the sizes that packing depends on, except those of the output's panels.
std::string SizesOf(const ConvShape& s) {
  return fmt::format("{} x {} of {} groups, {}x{}", s.out_channels, s.in_channels, s.groups, s.kernel_height,
                     s.kernel_width);
}

// Bytes. This value is a guess: the part of a third-level cache that one layer may fill. Above it, Winograd
// is computed in passes.
constexpr size_t kMostStages = 8 << 20;

size_t RoundedUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

FloatConv::FloatConv(const ConvShape& shape, const Tensor& weights, const ConvWay& way, Packer& packer)
    : pool_(packer.pool()), shape_(shape), way_(way) {
  if (const Precision rounded = OperandsOf(way.algorithm); rounded != Precision::kF32)
    half_.emplace(shape, rounded, weights, GemmWeights{nullptr, SumLength(shape), true}, packer);
  else if (way.algorithm != ConvAlgorithm::kDirect) PlanTiles(weights, packer);
  else if (IsDepthwise(shape)) PlanByChannel(weights, packer);
  else PlanProduct(weights, packer);
}

void FloatConv::PlanProduct(const Tensor& weights, Packer& packer) {
  product_.emplace(PlanConv(shape_, way_.tile_vectors), way_.tiles, pool_);
  const ConvPlan& plan = product_->any();
  const std::string what = fmt::format("{}, {}, columns {}, taps {} of {}", kernel(), SizesOf(shape_),
                                       plan.split.padded_columns(), plan.taps, plan.tap_length);
  packed_ = packer.Pack(what, weights, int64_t(PackedConvBytes(plan)), plan.panels,
                        [&](Range panels, float* packed) {
                          WeightRows rows(weights);
                          for (int64_t p = panels.begin; p < panels.end; ++p) {
                            const Range channels = PanelChannels(plan, p);
                            PackConv(plan, rows.Of(channels), {p, p + 1}, packed, channels.begin);
                          }
                        });
  const int64_t inputs = shape_.batch * shape_.in_height * shape_.in_width * shape_.in_channels;
  const int64_t row_bytes = (inputs + shape_.out_pixels() * shape_.out_channels) * int64_t{sizeof(float)};
  grid_ = MakeGrid({shape_.out_pixels(), plan.row_step, row_bytes, plan.panels, packed_bytes()},
                   pool_.step_speeds(), way_.other_side);
  pool_.ReserveScratch(int64_t(ConvScratchBytes(plan)));
}

void FloatConv::PlanByChannel(const Tensor& weights, Packer& packer) {
  by_channel_ = PlanDepthwise(shape_);
  packed_ =
      packer.Pack(kernel() + ", " + SizesOf(shape_), weights, int64_t(PackedDepthwiseBytes(*by_channel_)), 1,
                  [&](Range, float* packed) {
                    PackDepthwise(*by_channel_, WeightRows(weights).Of({0, shape_.out_channels}), packed);
                  });
  const int64_t step = by_channel_->channel_step;
  grid_ = MakeGrid({by_channel_->out_rows, 1, 1, (shape_.out_channels + step - 1) / step, 0},
                   pool_.step_speeds(), way_.other_side);
}

void FloatConv::PlanTiles(const Tensor& weights, Packer& packer) {
  tiles_ = PlanWinograd(shape_, WinogradTile(way_.algorithm));
  const std::string what =
      fmt::format("{}, {}, columns {}", kernel(), SizesOf(shape_), tiles_->gemm.split.padded_columns());
  packed_ = packer.Pack(what, weights, int64_t(PackedWinogradBytes(*tiles_)), tiles_->panels,
                        [&](Range panels, float* packed) {
                          WeightRows rows(weights);
                          for (int64_t p = panels.begin; p < panels.end; ++p) {
                            const Range channels = tiles_->gemm.split.Columns(p);
                            PackWinograd(*tiles_, rows.Of(channels), {p, p + 1}, packed, channels.begin);
                          }
                        });
  const int64_t transformed = tiles_->positions * tiles_->tiles * shape_.in_channels;
  const int64_t row_bytes =
      (transformed + shape_.out_pixels() * shape_.out_channels) * int64_t{sizeof(float)};
  const size_t stages = RoundedUp(TransformedWinogradBytes(*tiles_)) + WinogradProductsBytes(*tiles_);
  // Passes read all weights for each range of tiles; stages write and read the transformed values and the
  // products in memory. (Measured on two equal cores: the same within the noise for 128 channels of 28x28 and
  // 256 of 14x14, a quarter to a third less time in stages for 512 of 7x7.)
  const bool weights_larger = packed_bytes() > row_bytes;
  in_stages_ = pool_.step_threads() > 1 && stages <= kMostStages && weights_larger != way_.other_side;
  if (in_stages_) return pool_.ReserveShared(int64_t(stages));
  grid_ = MakeGrid({tiles_->tiles, tiles_->gemm.row_step, row_bytes, tiles_->panels, packed_bytes()},
                   pool_.step_speeds());
  pool_.ReserveScratch(int64_t(WinogradScratchBytes(*tiles_)));
}

void FloatConv::RunBlock(int worker, const float* input, const Epilogue& epilogue, float* output, Range rows,
                         Range columns) {
  const float* packed = packed_.as<float>();
  if (tiles_)
    return RunWinograd(*tiles_, input, packed, epilogue, rows, columns, output,
                       reinterpret_cast<float*>(pool_.scratch(worker)));
  if (product_)
    return RunConv(product_->of(worker), input, packed, epilogue, rows, columns, output,
                   pool_.scratch(worker));
  const int64_t step = by_channel_->channel_step;
  const Range channels{columns.begin * step, std::min(columns.end * step, by_channel_->shape.out_channels)};
  RunDepthwise(*by_channel_, input, packed, epilogue, rows, channels, output);
}

void FloatConv::RunInStages(const float* input, const Epilogue& epilogue, float* output) {
  std::byte* memory = pool_.shared();
  const WinogradStages stages{
      reinterpret_cast<float*>(memory),
      reinterpret_cast<float*>(memory + RoundedUp(TransformedWinogradBytes(*tiles_)))};
  pool_.For(tiles_->tiles, [&](int, int64_t begin, int64_t end) {
    TransformWinograd(*tiles_, input, {begin, end}, stages);
  });
  pool_.For(tiles_->positions * tiles_->panels, [&](int, int64_t begin, int64_t end) {
    MultiplyWinograd(*tiles_, packed_.as<float>(), {begin, end}, stages);
  });
  pool_.For(tiles_->tiles, [&](int, int64_t begin, int64_t end) {
    FinishWinograd(*tiles_, stages, epilogue, {begin, end}, output);
  });
}

void FloatConv::Run(const float* input, const Epilogue& epilogue, float* output) {
  if (half_) return half_->Run(input, epilogue, output);
  if (in_stages_) return RunInStages(input, epilogue, output);
  pool_.For(
      grid_.blocks(),
      [&](int w, int64_t begin, int64_t end) {
        grid_.ForPieces(begin, end, [&](Range rows, Range columns) {
          RunBlock(w, input, epilogue, output, rows, columns);
        });
      },
      grid_.run());
}

double FloatConv::MeasureUs(const ConstView& input, const Epilogue& epilogue, float* output,
                            ColdWeights* cold) {
  if (cold) cold->Evict((half_ ? half_->packed() : packed_).view(), input);
  return CallUs([&] { Run(input.as<float>(), epilogue, output); });
}

int64_t FloatConv::computed_flops(int64_t flops) const {
  return tiles_ ? 2 * tiles_->positions * tiles_->tiles * shape_.in_channels * shape_.out_channels : flops;
}

std::string FloatConv::kernel() const {
  if (half_) return half_->kernel();
  const char* target = by_channel_ ? TargetOf(*by_channel_)
                       : tiles_    ? TargetOf(*tiles_)
                                   : TargetOf(product_->any());
  return fmt::format("{} {}", KernelName(shape_, way_.algorithm), target);
}

}  // namespace mete
