// Brings the caches to the state in which a layer finds them in a model whose weights are larger than the
// caches: they have weights of other layers and none of this one, but they have the layer's input, which the
// layer before has just written.
#pragma once

#include <cstddef>

#include "mete/tensor.h"

namespace mete {

class ColdWeights {
 public:
  // Removes `weights` from all caches, where the processor can (kernels/fast/target/target.h), then reads as
  // many other bytes (kMost at most) in their place, and then `input`. A third-level cache that was only
  // emptied takes in streamed weights faster than a full one: Winograd's 38 MB of weights for 512 channels
  // took 1.2 to 1.4 ms on two cores that way, 1.7 ms in the model and 1.6 to 1.9 ms after this function
  // (measured, with 32 MB of other bytes). Two differences to a model remain: only the calling thread reads,
  // and the output leaves the caches too where the weights are as large as the caches.
  void Evict(const ConstView& weights, const ConstView& input);

 private:
  static constexpr size_t kMost = 32 << 20;  // guess: the size of a usual third-level cache
  Tensor other_;                             // as large as the largest weights so far, kMost at most
};

}  // namespace mete
