// A convolution over NHWC with its weights packed: depthwise ones by their own kernel, all others as an
// implicit matrix product or by Winograd's.
#pragma once

#include <optional>
#include <string>

#include "kernels/fast/conv/conv.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "kernels/fast/winograd/winograd.h"
#include "processor/cpu/prepare/cluster_tiles.h"
#include "processor/cpu/prepare/cold_weights.h"
#include "processor/cpu/prepare/conv_algorithm.h"
#include "processor/cpu/prepare/families.h"

namespace mete {

class FloatConv {
 public:
  // `weights`: [out_channels][in_channels / groups][kernel_height][kernel_width]; not needed afterwards.
  // `way`: one that can compute this shape.
  FloatConv(const ConvShape& shape, const float* weights, const ConvWay& way, Packer& packer);

  // All pointers are of whole tensors. One call at a time.
  void Run(const float* input, const Epilogue& epilogue, float* output);

  // Microseconds of a Run as it is between the other layers: with `cold`, where weights come from memory;
  // null: from caches.
  double MeasureUs(const ConstView& input, const Epilogue& epilogue, float* output, ColdWeights* cold);

  std::string kernel() const;  // "conv_f32 avx512"
  int64_t packed_bytes() const { return int64_t(packed_.bytes()); }
  // Of a convolution of `flops`: Winograd's products alone where it is computed so.
  int64_t computed_flops(int64_t flops) const;

 private:
  void PlanProduct(const float* weights, Packer& packer);
  void PlanByChannel(const float* weights, Packer& packer);
  void PlanTiles(const float* weights, Packer& packer);
  void RunInStages(const float* input, const Epilogue& epilogue, float* output);
  void RunBlock(int worker, const float* input, const Epilogue& epilogue, float* output, Range rows,
                Range columns);

  ThreadPool& pool_;
  ConvShape shape_;
  ConvWay way_;
  std::optional<WorkerPlans<ConvPlan>> product_;
  std::optional<DepthwisePlan> by_channel_;
  std::optional<WinogradPlan> tiles_;  // one of the three
  Tensor packed_;
  Grid grid_;
  bool in_stages_ = false;  // Winograd's: all inputs transformed, then all products, then all outputs
};

}  // namespace mete
