// A convolution over NHWC with packed weights. Depthwise convolutions have a kernel of their own; all others
// are computed as an implicit matrix product, of f32 or of operands rounded to halves, or by Winograd's
// algorithm.
#pragma once

#include <optional>
#include <string>

#include "kernels/fast/conv/conv.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "processor/cpu/prepare/cluster_tiles.h"
#include "processor/tuning/cold_weights.h"
#include "processor/cpu/prepare/conv_ways.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/half_product.h"
#include "processor/cpu/prepare/packer.h"
#include "processor/cpu/prepare/winograd_conv.h"

namespace mete {

class FloatConv {
 public:
  // `weights`: f32 [out_channels][in_channels / groups][kernel_height][kernel_width]; not used after the
  // constructor. `way` must be able to compute this shape.
  FloatConv(const ConvShape& shape, const Tensor& weights, const ConvWay& way, Packer& packer);

  // All pointers are to whole tensors. Only one call at a time is allowed.
  void Run(const float* input, const Epilogue& epilogue, float* output);

  // Returns the microseconds of a Run() in the state that it finds between other layers: with `cold`, weights
  // come from memory; null: from caches.
  double MeasureUs(const ConstView& input, const Epilogue& epilogue, float* output, ColdWeights* cold);

  std::string kernel() const;  // "conv_f32 avx512"
  int64_t packed_bytes() const { return int64_t(packed().bytes()); }
  // Returns the number of operations for a convolution of `flops`; for Winograd only those of its products.
  int64_t computed_flops(int64_t flops) const;

 private:
  void PlanProduct(const Tensor& weights, Packer& packer);
  void PlanByChannel(const Tensor& weights, Packer& packer);
  void PlanTiles(const Tensor& weights, Packer& packer);
  const Tensor& packed() const { return half_ ? half_->packed() : tiles_ ? tiles_->packed() : packed_; }
  void RunBlock(int worker, const float* input, const Epilogue& epilogue, float* output, Range rows,
                Range columns);

  ThreadPool& pool_;
  ConvShape shape_;
  ConvWay way_;
  std::optional<WorkerPlans<ConvPlan>> product_;
  std::optional<DepthwisePlan> by_channel_;
  std::optional<WinogradConv> tiles_;
  std::optional<HalfProduct> half_;  // exactly one of these four is set
  Tensor packed_;                    // of the first two
  Grid grid_;
};

}  // namespace mete
