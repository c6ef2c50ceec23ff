#include "processor/opencl/gpu/staging.h"

#include <cstring>

namespace mete::opencl {

StagingKind StagingFor(const ProbeFacts& proved) {
  return proved.shares_memory ? StagingKind::kShared : StagingKind::kMapped;
}

const char* Name(StagingKind kind) {
  return kind == StagingKind::kShared ? "memory shared without a map" : "mapped memory";
}

Staging::Staging(const Context& context, StagingKind kind, int64_t bytes)
    : context_(&context), kind_(kind), bytes_(bytes) {
  if (kind_ == StagingKind::kMapped) buffer_ = Buffer(context, {.bytes = bytes, .memory = Memory::kMapped});
}

void Staging::Allocate() {
  if (kind_ == StagingKind::kMapped || address_) return;
  shared_ = SharedMemory(*context_, bytes_);
  address_ = static_cast<std::byte*>(shared_.get());
}

void Staging::Free() {
  if (kind_ == StagingKind::kMapped) return;
  shared_ = {};
  address_ = nullptr;
}

void Staging::Set(Kernel& kernel, uint32_t place, int64_t offset, int64_t bytes) {
  if (kind_ == StagingKind::kMapped) {
    kernel.SetPlace(place, buffer_, offset, bytes);
    return;
  }
  if (!adopted_) Allocate();
  kernel.SetSharedPlace(place, static_cast<const std::byte*>(this->place()) + offset);
}

void Staging::CopyFrom(const void* from, int64_t bytes) {
  Allocate();
  std::memcpy(address_, from, size_t(bytes));
}

void Staging::BeginRead(Queue& queue, int64_t bytes) {
  if (kind_ == StagingKind::kShared || bytes == 0) return;
  Event done;  // the marker behind all commands stands for it
  address_ = queue.StartMap(buffer_, MapFor::kRead, 0, bytes, done);
}

void Staging::CopyOut(Queue& queue, void* to, int64_t bytes) {
  if (bytes == 0 || adopted_) return;
  std::memcpy(to, address_, size_t(bytes));
  (void)Unmap(queue);
}

Event Staging::Unmap(Queue& queue) {
  if (kind_ == StagingKind::kShared || !address_) return {};
  return queue.Unmap(buffer_, std::exchange(address_, nullptr));
}

int64_t Staging::memory_bytes() const { return kind_ == StagingKind::kMapped || address_ ? bytes_ : 0; }

}  // namespace mete::opencl
