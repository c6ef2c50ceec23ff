#include "processor/cpu/arenas.h"

#include <utility>

#include "processor/cpu/executor.h"

namespace mete {

// Drops the free arenas that are larger or smaller than the shares need now.
void Arenas::DropUnfit() {
  free_.remove_if([&](const Tensor& arena) { return int64_t(arena.bytes()) != bytes(); });
}

void Arenas::Add(int64_t bytes) {
  std::lock_guard lock(mutex_);
  needs_.insert(bytes);
  DropUnfit();
}

void Arenas::Remove(int64_t bytes) {
  std::lock_guard lock(mutex_);
  needs_.erase(needs_.find(bytes));
  DropUnfit();
}

std::list<Tensor> Arenas::Take() {
  std::list<Tensor> taken;
  std::unique_lock lock(mutex_);
  const int64_t needed = bytes();
  if (!free_.empty()) taken.splice(taken.begin(), free_, free_.begin());
  if (taken.empty()) {
    lock.unlock();
    taken.emplace_back(DType::kU8, Shape{needed});
    lock.lock();
  }
  lent_bytes_ += int64_t(taken.front().bytes());
  return taken;
}

void Arenas::Return(std::list<Tensor> arena) {
  std::lock_guard lock(mutex_);
  lent_bytes_ -= int64_t(arena.front().bytes());
  if (int64_t(arena.front().bytes()) == bytes()) free_.splice(free_.begin(), arena);
}

int64_t Arenas::memory_bytes() const {
  std::lock_guard lock(mutex_);
  int64_t bytes = lent_bytes_;
  for (const Tensor& arena : free_) bytes += int64_t(arena.bytes());
  return bytes;
}

Arenas::Need::Need(std::shared_ptr<Arenas> arenas, int64_t bytes)
    : arenas_(std::move(arenas)), bytes_(bytes) {
  arenas_->Add(bytes_);
}

Arenas::Need::~Need() { arenas_->Remove(bytes_); }

Arenas::Loan::Loan(const std::optional<Need>& need, Executor& executor)
    : arenas_(need ? need->arenas_.get() : nullptr), executor_(executor) {
  if (!arenas_) return;
  arena_ = arenas_->Take();
  executor_.UseArena(arena_.front());
}

Arenas::Loan::~Loan() {
  if (!arenas_) return;
  executor_.LeaveArena();
  arenas_->Return(std::move(arena_));
}

}  // namespace mete
