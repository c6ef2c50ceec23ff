// A pool of tensors for the values of the requests under way.
#pragma once

#include <memory>

#include "processor/processor.h"

namespace mete {

// Lends tensors. A tensor comes back when its last copy is destroyed, in any thread, and its memory is
// then lent again, for types and shapes that need most of it: a steady run allocates nothing. Tensors that
// are lent may outlive the pool. Thread-safe.
class Buffers {
 public:
  // `make` allocates the tensors; null: in the memory of any process.
  explicit Buffers(MakeTensor make = nullptr);
  // Returns a tensor of this type and shape. It is not zeroed if it was lent before.
  Tensor Take(DType type, const Shape& shape);

 private:
  struct Buffer;
  struct Pool;
  template <class T>
  class Lender;

  std::shared_ptr<Pool> pool_;
};

}  // namespace mete
