// How much memory the work of callers may take on a worker, all of them together, and how much of it is
// taken. Counts; asks for none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace mete {

class MemoryBudget {
 public:
  // So much of it, given back in the end. The budget outlives it.
  class Part {
   public:
    Part() = default;
    Part(Part&& other) noexcept { *this = std::move(other); }
    Part& operator=(Part&& other) noexcept {
      std::swap(budget_, other.budget_), std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Part() { Shrink(0); }

    int64_t bytes() const { return bytes_; }
    void Shrink(int64_t bytes) {  // to so much, where it is more
      if (bytes >= bytes_) return;
      budget_->Add(bytes - bytes_);
      bytes_ = bytes;
    }
    void Join(Part&& other) {  // takes over what another has, of the same budget
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

  // Nothing where there is not so much left. Thread-safe, as all of this is.
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
