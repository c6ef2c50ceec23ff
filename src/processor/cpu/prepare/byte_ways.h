// The ways to compute a convolution of bytes: with exact sums, or by Winograd's algorithm with sums in f32.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "dispatch/quantized.h"
#include "processor/cpu/prepare/prepare.h"

namespace mete {

// A convolution of bytes with packed weights. Keeps what it needs, except the graph.
class ByteWay {
 public:
  virtual ~ByteWay() = default;
  // `in`: the node's inputs. `to`: the first channel that the node writes. Only one call at a time is
  // allowed.
  virtual void Run(std::span<const ConstView> in, void* to) = 0;
  virtual std::string kernel() const = 0;  // "conv_bytes avx2"
  virtual const Tensor& packed() const = 0;
  virtual int64_t computed_flops(int64_t flops) const { return flops; }
};

// `weights`: the constant that conv.weights are read from.
std::unique_ptr<ByteWay> MakeExactWay(const QuantizedConvolution& conv, const Tensor& weights,
                                      Packer& packer);

// Prepares a convolution with constant weights in the way that is the soonest of conv.algorithms.
std::unique_ptr<PreparedNode> PrepareByteConv(const QuantizedConvolution& conv, const Preparation& of);

}  // namespace mete
