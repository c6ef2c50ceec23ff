// Compiled programs in the cache folder, so that the next start need not compile. A file is named by a digest
// of all that decides over its content, and has a checksum. It can always be made again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "processor/opencl/info/gpu_info.h"

namespace mete::opencl {

class KeptPrograms {
 public:
  // This value is a guess: a program of PoCL's has 80 KB, and a model 30 of them.
  static constexpr int64_t kMostBytes = 256 << 20;

  // Programs for a device with these facts, in `folder`/gpu. "": none are kept. `most_bytes`: of all files;
  // those that were used the longest time ago are deleted.
  KeptPrograms(const std::string& folder, const DeviceFacts& facts, int64_t most_bytes = kMostBytes);

  // Returns the binary of a text, by its digest (DigestOf()); empty if there is none that is whole.
  std::vector<std::byte> Find(const std::string& digest) const;
  // Does nothing if the file cannot be written: the next start compiles again.
  void Keep(const std::string& digest, const std::vector<std::byte>& binary) const;
  bool keeps() const { return !folder_.empty(); }

 private:
  std::string PathOf(const std::string& digest) const;
  void DeleteOldest() const;

  const std::string folder_, device_;
  const int64_t most_bytes_;
};

}  // namespace mete::opencl
