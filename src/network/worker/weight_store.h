// Weights that callers have sent, by their digests, on this device's disk: they travel once. The folder is
// bounded; what has not been used for longest goes first, and nothing that is in use or was asked for since
// Trim(): else a caller whose weights do not fit would send them again and again. A file is checked against
// its digest whenever it is read.
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
  // Error where there is no such memory for `what`.
  using TakeMemory = std::function<MemoryBudget::Part(int64_t bytes, const std::string& what)>;

  // The folder is made as needed; empty: weights are kept in memory alone. `most_bytes`: of all files
  // together. `take`: for what is only in memory.
  WeightStore(std::string folder, int64_t most_bytes, TakeMemory take)
      : folder_(std::move(folder)), most_bytes_(most_bytes), take_(std::move(take)) {}

  bool Has(const Digest& digest);
  // Nothing where it is not here, or its file is damaged, which removes that.
  Tensor Find(const Digest& digest);
  // Gives it as it is kept, and keeps it while somebody has that. Error DATA_LOSS where it is not what the
  // digest says, RESOURCE_EXHAUSTED where it is too much. What cannot be written is kept in memory instead,
  // until nobody uses it and there is need of room; `note` then says why.
  Tensor Add(const Digest& digest, const Tensor& tensor, std::string* note);
  // Unmaps files that nobody uses. What was asked for before may go.
  void Trim();

 private:
  std::string PathOf(const Digest& digest) const;
  Tensor Read(const Digest& digest) const;
  struct InMemory {
    bool in_use() const { return asked || tensor.use_count() > 1; }

    std::shared_ptr<const Tensor> tensor;
    bool on_disk = false;       // mapped
    bool asked = true;          // since Trim()
    MemoryBudget::Part memory;  // of what is not on the disk
  };

  // mutex_ is locked.
  InMemory Written(const Digest& digest, const Tensor& tensor);  // Error where that is not possible
  InMemory Unwritten(const Tensor& tensor, const std::string& why);
  void MakeRoom(int64_t bytes);  // Error where that is not possible
  void Unmap();                  // files that are not in use
  void TrimAsked();

  const std::string folder_;
  const int64_t most_bytes_;
  const TakeMemory take_;
  std::mutex mutex_;
  std::map<Digest, InMemory> memory_;
};

}  // namespace mete
