// A bound on the memory that the work of all callers together may take on a worker, and a count of what is
// taken. This class counts only; it allocates nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace mete {

class MemoryBudget {
 public:
  // Bytes taken from the budget; the destructor gives them back. The budget must outlive its parts.
  class Part {
   public:
    Part() = default;
    Part(Part&& other) noexcept { *this = std::move(other); }
    Part& operator=(Part&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Part() { Shrink(0); }

    int64_t bytes() const { return bytes_; }
    void Shrink(int64_t bytes) {  // to `bytes`, if the part is larger
      if (bytes >= bytes_) return;
      budget_->Add(bytes - bytes_);
      bytes_ = bytes;
    }
    void Join(Part&& other) {  // takes over the bytes of `other`, a part of the same budget
      if (!budget_) budget_ = other.budget_;
      bytes_ += std::exchange(other.bytes_, 0);
    }

   private:
    friend class MemoryBudget;
    Part(MemoryBudget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {}

    MemoryBudget* budget_ = nullptr;
    int64_t bytes_ = 0;
  };

  explicit MemoryBudget(int64_t most_bytes) : most_(most_bytes) {}

  // Returns no part where less than `bytes` is left. All functions of MemoryBudget are thread-safe.
  std::optional<Part> TryTake(int64_t bytes) {
    std::lock_guard lock(mutex_);
    if (bytes > most_ - taken_) return {};
    taken_ += bytes;
    return Part(this, bytes);
  }

  int64_t most() const { return most_; }
  int64_t taken() const {
    std::lock_guard lock(mutex_);
    return taken_;
  }

 private:
  void Add(int64_t bytes) {
    std::lock_guard lock(mutex_);
    taken_ += bytes;
  }

  const int64_t most_;
  mutable std::mutex mutex_;
  int64_t taken_ = 0;
};

}  // namespace mete
