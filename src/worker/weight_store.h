// Weights that callers have sent, by their digests, on this device's disk: they travel once. The folder is bounded; what has not been
// used for longest goes first. A file is checked against its digest whenever it is read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "partition/wire/digest.h"

namespace mete {

class WeightStore {
 public:
  // The folder is made as needed; empty: weights are kept in memory alone. `most_bytes`: of all files together, and of what is only in
  // memory.
  WeightStore(std::string folder, int64_t most_bytes) : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  bool Has(const Digest& digest);
  // Nothing where it is not here, or its file is damaged, which removes that.
  Tensor Find(const Digest& digest);
  // Error DATA_LOSS where it is not what the digest says, RESOURCE_EXHAUSTED where it is too much. What cannot be written is kept in memory
  // instead; `note` then says why.
  void Add(const Digest& digest, const Tensor& tensor, std::string* note);
  // Unmaps files that nobody uses.
  void Trim();

 private:
  std::string PathOf(const Digest& digest) const;
  Tensor Read(const Digest& digest) const;
  void Write(const Digest& digest, const Tensor& tensor);
  void MakeRoom(int64_t bytes) const;

  const std::string folder_;
  const int64_t most_bytes_;
  std::mutex mutex_;
  struct InMemory {
    std::shared_ptr<const Tensor> tensor;
    bool on_disk = false;
  };
  int64_t unwritten_bytes_ = 0;
  std::map<Digest, InMemory> memory_;
};

}  // namespace mete
