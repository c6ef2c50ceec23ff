// The caches as a layer finds them in a model whose weights are larger than they are: none of its weights is there but others', and its
// input is, which the layer before has just written.
#pragma once

#include <cstddef>

#include "mete/tensor.h"

namespace mete {

class ColdWeights {
 public:
  // `weights` leave all caches, where the processor can (kernels/fast/target/target.h); as many other bytes, kMost at most, take their
  // place; and `input` is read. A cache that was only emptied takes in what is streamed with less ado: Winograd's 38 MB of weights for
  // 512 channels took 1.2 to 1.4 ms on two cores that way, 1.7 ms in the model and 1.8 ms after this (measured, 32 MB of third level).
  void Evict(const ConstView& weights, const ConstView& input);

 private:
  static constexpr size_t kMost = 32 << 20;  // guess: a usual third level
  Tensor other_;
};

}  // namespace mete
