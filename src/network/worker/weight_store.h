// Weights that callers have sent, by their digests, on this device's disk, so that a weight is sent only
// once. The size of the folder is bounded. The files whose last use is oldest are deleted first, but none
// that is in use or was asked for since Trim(): otherwise a caller whose weights do not fit would send them
// again and again. A file is checked against its digest whenever it is read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "network/wire/digest.h"
#include "network/worker/memory_budget.h"

namespace mete {

class WeightStore {
 public:
  // Takes memory from a budget. Error where the budget has too little left for `what`.
  using TakeMemory = std::function<MemoryBudget::Part(int64_t bytes, const std::string& what)>;

  // The folder is made at the first write; if `folder` is empty, weights are kept in memory only.
  // `most_bytes` bounds the size of all files together. `take` is called for weights that are only in memory.
  WeightStore(std::string folder, int64_t most_bytes, TakeMemory take)
      : folder_(std::move(folder)), most_bytes_(most_bytes), take_(std::move(take)) {}

  bool Has(const Digest& digest);
  // Returns an empty tensor where the store has no such weight, or where its file is damaged; a damaged file
  // is deleted.
  Tensor Find(const Digest& digest);
  // Stores a weight and returns the stored tensor, which the store keeps while the result is in use. Error
  // DATA_LOSS where the content does not have the digest, RESOURCE_EXHAUSTED where the store has no room. A
  // weight that cannot be written to the disk is kept in memory, until it is unused and its room is needed;
  // `note` then says why.
  Tensor Add(const Digest& digest, const Tensor& tensor, std::string* note);
  int64_t BytesOnDisk() const;  // of all files in the folder, those of earlier starts included
  int64_t most_bytes() const { return most_bytes_; }
  // Unmaps files that are not in use. Files that were asked for before this call may be deleted from now on.
  void Trim();

 private:
  std::string PathOf(const Digest& digest) const;
  Tensor Read(const Digest& digest) const;
  struct InMemory {
    bool in_use() const { return asked || tensor.use_count() > 1; }

    std::shared_ptr<const Tensor> tensor;
    bool on_disk = false;       // `tensor` is a mapped file
    bool asked = true;          // whether it was asked for since Trim()
    MemoryBudget::Part memory;  // of a weight that is not on the disk
  };

  // mutex_ is locked in all functions below.
  InMemory Written(const Digest& digest, const Tensor& tensor);  // Error where the weight cannot be written
  InMemory Unwritten(const Tensor& tensor, const std::string& why);
  void MakeRoom(int64_t bytes);  // Error where the folder has too little room
  void Unmap();                  // files that are not in use
  void TrimAsked();

  const std::string folder_;
  const int64_t most_bytes_;
  const TakeMemory take_;
  std::mutex mutex_;
  std::map<Digest, InMemory> memory_;
};

}  // namespace mete
