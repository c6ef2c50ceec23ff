#include "processor/cpu/arenas.h"

#include <algorithm>
#include <utility>

namespace mete {

void Arenas::Reserve(int64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes <= bytes_) return;
  bytes_ = bytes;
  free_.clear();
}

Tensor Arenas::Take() {
  std::lock_guard lock(mutex_);
  if (free_.empty()) return Tensor(DType::kU8, Shape{bytes_});
  Tensor arena = std::move(free_.back());
  free_.pop_back();
  return arena;
}

void Arenas::Return(Tensor arena) {
  std::lock_guard lock(mutex_);
  if (int64_t(arena.bytes()) >= bytes_) free_.push_back(std::move(arena));
}

Arenas::Loan::Loan(Arenas* arenas, Executor& executor) : arenas_(arenas) {
  if (!arenas_) return;
  arena_ = arenas_->Take();
  executor.UseArena(arena_);
}

Arenas::Loan::~Loan() {
  if (arenas_) arenas_->Return(std::move(arena_));
}

}  // namespace mete
