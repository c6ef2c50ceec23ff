// A convolution by Winograd's algorithm with packed weights, of floats or of bytes.
#pragma once

#include <functional>

#include "kernels/fast/winograd/winograd.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/threads/thread_pool.h"

namespace mete {

class WinogradConv {
 public:
  // Packs the weights for a plan.
  using Pack = std::function<Tensor(const WinogradPlan&)>;

  // m: 2, 4 or 6. `other_side`: choose passes where stages would be usual, and the reverse.
  WinogradConv(const ConvShape& shape, int m, bool other_side, const Pack& pack, ThreadPool& pool);

  // All pointers are to whole tensors. Only one call at a time is allowed.
  void Run(const float* input, const Epilogue& epilogue, float* output);
  void Run(const WinogradBytes& bytes);

  const char* target() const { return TargetOf(plan_); }
  const Tensor& packed() const { return packed_; }
  int64_t computed_flops() const;  // of the products

 private:
  // Calls pass(tiles, panels, scratch) for blocks, or the steps of stages.
  template <class Pass, class First, class Last>
  void RunEither(const Pass& pass, const First& first, const Last& last);

  ThreadPool& pool_;
  const WinogradPlan plan_;
  const Tensor packed_;
  Grid grid_;
  // All inputs are transformed, then all products are computed, then all outputs are transformed.
  bool in_stages_ = false;
};

}  // namespace mete
