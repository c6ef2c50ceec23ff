// The caches as a layer finds them in a model whose weights are larger than they are: none of its weights is
// there but others', and its input is, which the layer before has just written.
#pragma once

#include <cstddef>

#include "mete/tensor.h"

namespace mete {

class ColdWeights {
 public:
  // `weights` leave all caches, where the processor can (kernels/fast/target/target.h); as many other bytes,
  // kMost at most, are read in their place; and `input` is. A third level that was only emptied takes in what
  // is streamed with less ado: Winograd's 38 MB of weights for 512 channels took 1.2 to 1.4 ms on two cores
  // that way, 1.7 ms in the model and 1.6 to 1.9 ms after this (measured, 32 MB of it). What is off: the
  // calling thread alone reads, and the output is far, too, where the weights are as large as the caches.
  void Evict(const ConstView& weights, const ConstView& input);

 private:
  static constexpr size_t kMost = 32 << 20;  // guess: a usual third level
  Tensor other_;                             // as large as the largest weights so far, up to that
};

}  // namespace mete
