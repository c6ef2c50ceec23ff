// Tensors in memory that the host and a device both see without a map: shares use them where they lie.
#pragma once

#include <cstdint>
#include <memory>

#include "mete/tensor.h"
#include "processor/opencl/api/opencl.h"

namespace mete::opencl {

class SharedTensors {
 public:
  // The context's device has fine-grained shared memory.
  explicit SharedTensors(const Context& context);

  // Allocates a tensor of zeros. The memory is freed when its last owner goes, but never after the context
  // has been abandoned. Error RESOURCE_EXHAUSTED. Thread-safe.
  Tensor Make(DType type, const Shape& shape);

  // Returns the owner of these bytes, or of those around them; null if they are no memory of this object.
  // Whoever keeps it while a command of the device uses the bytes keeps them from being freed. Thread-safe.
  std::shared_ptr<const void> OwnerOf(const void* data, int64_t bytes) const;

  int64_t bytes() const;  // of all tensors that are there

 private:
  struct Blocks;

  const Context& context_;
  const std::shared_ptr<Blocks> blocks_;  // kept by each block until its end
};

}  // namespace mete::opencl
