// Parts of buffers as arguments of kernels, which do not keep them alive.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "processor/opencl/api/opencl.h"

namespace mete::opencl {

class BufferParts {
 public:
  // Returns bytes of a buffer: the buffer itself where these are all. The part lives as long as this object.
  const Buffer& Of(const Buffer& whole, int64_t offset, int64_t bytes) {
    if (offset == 0 && bytes == whole.bytes()) return whole;
    Buffer& part = parts_[{whole.get(), offset, bytes}];
    if (!part.get()) part = whole.Part(offset, bytes);
    return part;
  }

 private:
  std::map<std::tuple<const void*, int64_t, int64_t>, Buffer> parts_;
};

}  // namespace mete::opencl
