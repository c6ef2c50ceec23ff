// A tensor for results whose shape is known only when they are there: its memory is kept, and only grows.
#pragma once

#include <cstddef>
#include <memory>

#include "mete/tensor.h"

namespace mete {

class GrowingTensor {
 public:
  // Gives the tensor another type and shape. What it contained is lost.
  View Resize(DType type, const Shape& shape) {
    const size_t bytes = size_t(shape.Elements()) * SizeOf(type);
    if (bytes > capacity_ || !memory_) {
      memory_ = std::make_unique<std::byte[]>(bytes + 1);  // no address of an empty tensor is null
      capacity_ = bytes;
    }
    view_ = {memory_.get(), type, shape};
    return view_;
  }
  const View& view() const { return view_; }

 private:
  View view_;
  std::unique_ptr<std::byte[]> memory_;
  size_t capacity_ = 0;
};

}  // namespace mete
