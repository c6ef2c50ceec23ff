// The reference kernel of every operator: readable, single-threaded, and without special memory layouts. The
// tests compare the fast kernels with these kernels, constant folding uses them, and they run where no fast
// kernel fits (`METE_TARGET=reference` forces them everywhere).
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

// The working memory of a kernel call. It grows to the largest need once and then never allocates again. The
// memory that Get() returns is valid until the next Reset() and is not cleared.
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
  std::span<const ConstView> in;  // an optional input that is left out is not present()
  std::span<View> out;            // shaped and allocated; an output that is left out is not present()
  Scratch& scratch;
  // Allocates out[i]. Only data-dependent operators use it, because their outputs come without shape and
  // data.
  std::function<void(size_t i, DType type, const Shape& shape)> allocate;

  bool has(size_t i) const { return i < in.size() && in[i].present(); }
  bool wants(size_t i) const { return i < out.size() && out[i].present(); }
};

// A kernel may rely on the ranks, types and shapes that the operator's inference (graph/ops) has checked. The
// kernel itself checks values within the data, for example an index, and throws OUT_OF_RANGE or
// INVALID_ARGUMENT for a bad one.
using RefKernel = void (*)(RefArgs&);

struct RefEntry {
  const char* op;
  RefKernel run;
};

RefKernel FindReference(std::string_view op);  // null if there is no kernel for `op`

// The tables of the operator families, which are the same as those of graph/ops/.
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
