#include "processor/cpu/arenas.h"

#include <algorithm>
#include <utility>

namespace mete {

void Arenas::DropFree() {
  made_ -= std::min(made_, free_.size());
  free_.clear();
}

void Arenas::Add(int64_t bytes) {
  std::lock_guard lock(mutex_);
  needs_.insert(bytes);
  if (bytes <= bytes_) return;
  bytes_ = bytes;
  DropFree();
}

void Arenas::Remove(int64_t bytes) {
  std::lock_guard lock(mutex_);
  needs_.erase(needs_.find(bytes));
  const int64_t largest = needs_.empty() ? 0 : *needs_.rbegin();
  if (largest == bytes_ && !needs_.empty()) return;
  bytes_ = largest;
  DropFree();
}

Tensor Arenas::Take() {
  int64_t bytes = 0;
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      Tensor arena = std::move(free_.back());
      free_.pop_back();
      return arena;
    }
    free_.reserve(++made_);
    bytes = bytes_;
  }
  return {DType::kU8, Shape{bytes}};
}

// Arenas of another size were lent before a share was made ready or went.
void Arenas::Return(Tensor arena) {
  std::lock_guard lock(mutex_);
  if (int64_t(arena.bytes()) == bytes_ && free_.size() < free_.capacity()) free_.push_back(std::move(arena));
  else made_ -= std::min(made_, size_t{1});
}

Arenas::Need::Need(std::shared_ptr<Arenas> arenas, int64_t bytes)
    : arenas_(std::move(arenas)), bytes_(bytes) {
  arenas_->Add(bytes_);
}

Arenas::Need::~Need() { arenas_->Remove(bytes_); }

Arenas::Loan::Loan(const Need* need, Executor& executor)
    : arenas_(need ? need->arenas_.get() : nullptr), executor_(executor) {
  if (!arenas_) return;
  arena_ = arenas_->Take();
  executor_.UseArena(arena_);
}

Arenas::Loan::~Loan() {
  if (!arenas_) return;
  executor_.LeaveArena();
  arenas_->Return(std::move(arena_));
}

}  // namespace mete
