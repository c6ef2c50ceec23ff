// The readable reference for every operator: correct first, one thread, no layout tricks. It is what the
// fast kernels are tested against, what constants are folded with, and what runs where no fast kernel
// fits (`METE_TARGET=reference` forces it everywhere).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/attributes.h"
#include "mete/tensor.h"

namespace mete {

// Working memory of one kernel call: grows to the largest need once, then never allocates again.
// What Get() returns is valid until the next Reset() and is not cleared.
class Scratch {
 public:
  template <class T>
  T* Get(size_t count) {
    return static_cast<T*>(GetBytes(count * sizeof(T)));
  }
  void Reset();

 private:
  void* GetBytes(size_t bytes);
  struct Chunk {
    std::unique_ptr<std::byte[]> memory;
    size_t size = 0, used = 0;
  };
  std::vector<Chunk> chunks_;
};

struct RefArgs {
  const Attributes& attributes;
  std::span<const ConstView> in;  // left-out optional inputs are not present()
  std::span<View> out;            // shaped and allocated; left-out outputs are not present()
  Scratch& scratch;
  // For data-dependent operators only, whose outputs come without shape or data: sets out[i].
  std::function<void(size_t i, DType type, const Shape& shape)> allocate;

  bool has(size_t i) const { return i < in.size() && in[i].present(); }
  bool wants(size_t i) const { return i < out.size() && out[i].present(); }
};

// Inputs were checked by the operator's inference (graph/ops): a kernel may rely on ranks, types and
// shapes that it vouches for. Values inside the data (an index out of range) are checked here and throw
// Error OUT_OF_RANGE or INVALID_ARGUMENT.
using RefKernel = void (*)(RefArgs&);

struct RefEntry {
  const char* op;
  RefKernel run;
};

RefKernel FindReference(std::string_view op);  // null where there is none

// The families, a file in kernels/reference/ each; the same split as graph/ops/.
std::span<const RefEntry> ElementwiseReferences();
std::span<const RefEntry> ReductionReferences();
std::span<const RefEntry> ConvolutionReferences();
std::span<const RefEntry> NormalizationReferences();
std::span<const RefEntry> MatrixReferences();
std::span<const RefEntry> TensorReferences();
std::span<const RefEntry> IndexReferences();
std::span<const RefEntry> ImageReferences();
std::span<const RefEntry> SequenceReferences();
std::span<const RefEntry> QuantizedReferences();
std::span<const RefEntry> FusedReferences();

}  // namespace mete
