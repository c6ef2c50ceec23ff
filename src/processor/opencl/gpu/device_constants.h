// Constants and packed weights on a device. Shares that read the same ones have one copy of them: those of a
// plan, of the plan beside which it is tried, and of the whole model on the device.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "mete/tensor.h"
#include "processor/opencl/api/opencl.h"

namespace mete::opencl {

// What decides over the bytes of a buffer: constants, and the kernels that pack them. Large constants count
// by their place in memory, not by their bytes.
class Content {
 public:
  void Add(std::string_view text);
  void Add(const Tensor& constant);
  void Add(const Content& other);

 private:
  friend class DeviceConstants;

  std::string key_;
  std::vector<std::shared_ptr<const void>> sources_;  // which keep what lies at the places
  std::vector<std::weak_ptr<const void>> owners_;     // without them other bytes may lie there
};

// Thread-safe.
class DeviceConstants {
 public:
  // Returns the buffer of this content that shares use; null if there is none.
  std::shared_ptr<const Buffer> Find(const Content& content) const;
  // Makes the buffer known as long as shares use what this function returns, which keeps the sources of the
  // content: this buffer, or the one that has become known meanwhile.
  std::shared_ptr<const Buffer> Add(const Content& content, std::shared_ptr<const Buffer> buffer);

  int64_t bytes() const;  // of all buffers in use

 private:
  struct Known {
    std::vector<std::weak_ptr<const void>> owners;
    std::weak_ptr<const Buffer> buffer;
  };
  std::shared_ptr<const Buffer> Locked(const Content& content) const;

  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;
  std::vector<std::weak_ptr<const Buffer>> replaced_;  // of contents that have gone, in use by shares
};

}  // namespace mete::opencl
