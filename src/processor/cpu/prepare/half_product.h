// A product whose operands are rounded to halves (kernels/fast/half): a convolution over NHWC, or a product
// of matrices as a convolution of 1x1. All threads round the input to shared memory first, where the kernel
// reads halves.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "dispatch/products.h"
#include "kernels/fast/half/half_conv.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/packer.h"
#include "processor/cpu/prepare/prepare.h"

namespace mete {

// The input of a product, rounded to the beginning of the pool's shared memory, of which the caller reserves
// bytes().
class RoundedInput {
 public:
  // Requires RoundsInputs(plan).
  RoundedInput(const HalfConvPlan& plan, int64_t elements, ThreadPool& pool);

  int64_t bytes() const { return elements_ * int64_t{sizeof(uint16_t)}; }
  // Rounds `from` with all threads, and returns the halves.
  const uint16_t* Round(const float* from) const;

 private:
  const HalfConvPlan plan_;
  const int64_t elements_, blocks_;
  ThreadPool& pool_;
};

class HalfProduct {
 public:
  // `operands`: kBf16 or kF16. `weights` are not used after the constructor; `matrix` is how they lie,
  // without their data (PackHalfConv).
  HalfProduct(const ConvShape& shape, Precision operands, const Tensor& weights, const GemmWeights& matrix,
              Packer& packer);

  // All pointers are to whole tensors. Only one call at a time is allowed.
  void Run(const float* input, const Epilogue& epilogue, float* output);

  std::string kernel() const;  // "conv_bf16 avx512 bf16"
  std::string reason() const;  // what is rounded: "rounded to bf16", "weights rounded to f16"
  const Tensor& packed() const { return packed_; }
  int64_t packed_bytes() const { return int64_t(packed_.bytes()); }

 private:
  template <class Input>
  void Multiply(const Input* input, const Epilogue& epilogue, float* output);
  void Pack(const Tensor& weights, GemmWeights matrix, Range panels, void* packed) const;

  ThreadPool& pool_;
  const Precision operands_;
  HalfConvPlan plan_;
  int64_t inputs_ = 0;  // elements of the input
  std::optional<RoundedInput> rounded_;
  Tensor packed_;
  Grid grid_;
};

// Prepares a product whose operands are rounded to halves (PrecisionOf).
std::unique_ptr<PreparedNode> PrepareRounded(const Product& product, const Preparation& of);

}  // namespace mete
