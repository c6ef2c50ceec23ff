#include "processor/cpu/prepare/float_conv.h"

#include <fmt/format.h>

#include "processor/tuning/tuner.h"
#include "processor/cpu/prepare/weight_rows.h"

namespace mete {
namespace {

int64_t SumLength(const ConvShape& s) { return s.in_channels / s.groups * s.kernel_height * s.kernel_width; }

// Returns the sizes that packing depends on, except those of the output's panels.
std::string SizesOf(const ConvShape& s) {
  return fmt::format("{} x {} of {} groups, {}x{}", s.out_channels, s.in_channels, s.groups, s.kernel_height,
                     s.kernel_width);
}

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
  const auto pack = [&](const WinogradPlan& plan) {
    const std::string what = fmt::format("{} {}, {}, columns {}", KernelName(shape_, way_.algorithm),
                                         TargetOf(plan), SizesOf(shape_), plan.gemm.split.padded_columns());
    return packer.Pack(what, weights, int64_t(PackedWinogradBytes(plan)), plan.panels,
                       [&](Range panels, float* packed) {
                         WeightRows rows(weights);
                         for (int64_t p = panels.begin; p < panels.end; ++p) {
                           const Range channels = plan.gemm.split.Columns(p);
                           PackWinograd(plan, rows.Of(channels), {p, p + 1}, packed, channels.begin);
                         }
                       });
  };
  tiles_.emplace(shape_, WinogradTile(way_.algorithm), way_.other_side, pack, pool_);
}

void FloatConv::RunBlock(int worker, const float* input, const Epilogue& epilogue, float* output, Range rows,
                         Range columns) {
  const float* packed = packed_.as<float>();
  if (product_)
    return RunConv(product_->of(worker), input, packed, epilogue, rows, columns, output,
                   pool_.scratch(worker));
  const int64_t step = by_channel_->channel_step;
  const Range channels{columns.begin * step, std::min(columns.end * step, by_channel_->shape.out_channels)};
  RunDepthwise(*by_channel_, input, packed, epilogue, rows, channels, output);
}

void FloatConv::Run(const float* input, const Epilogue& epilogue, float* output) {
  if (half_) return half_->Run(input, epilogue, output);
  if (tiles_) return tiles_->Run(input, epilogue, output);
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
  if (cold) cold->Evict(packed().view(), input);
  return CallUs([&] { Run(input.as<float>(), epilogue, output); });
}

int64_t FloatConv::computed_flops(int64_t flops) const { return tiles_ ? tiles_->computed_flops() : flops; }

std::string FloatConv::kernel() const {
  if (half_) return half_->kernel();
  const char* target = by_channel_ ? TargetOf(*by_channel_)
                       : tiles_    ? tiles_->target()
                                   : TargetOf(product_->any());
  return fmt::format("{} {}", KernelName(shape_, way_.algorithm), target);
}

}  // namespace mete
