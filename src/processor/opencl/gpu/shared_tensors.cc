#include "processor/opencl/gpu/shared_tensors.h"

#include <cstring>
#include <functional>
#include <map>
#include <mutex>

namespace mete::opencl {
namespace {

// Kernels of the CPU may read up to the end of a cache line, as behind the tensors of the CPU's own memory.
constexpr int64_t kLine = 64;

}  // namespace

struct SharedTensors::Blocks {
  struct Block {
    int64_t bytes = 0;
    std::weak_ptr<const void> owner;
  };

  std::mutex mutex;
  std::map<const std::byte*, Block, std::less<>> by_address;
};

SharedTensors::SharedTensors(const Context& context)
    : context_(context), blocks_(std::make_shared<Blocks>()) {}

Tensor SharedTensors::Make(DType type, const Shape& shape) {
  const int64_t bytes = (shape.Elements() * int64_t(SizeOf(type)) + kLine) / kLine * kLine;
  auto memory = std::make_shared<SharedMemory>(context_, bytes);
  const auto* const address = static_cast<const std::byte*>(memory->get());
  std::memset(memory->get(), 0, size_t(bytes));
  const std::shared_ptr<const void> owner(address, [blocks = blocks_, memory, address](const void*) mutable {
    {
      const std::lock_guard lock(blocks->mutex);
      blocks->by_address.erase(address);  // before another block gets this address
    }
    memory = nullptr;  // this function may live longer
  });
  memory = nullptr;
  const std::lock_guard lock(blocks_->mutex);
  blocks_->by_address[address] = {bytes, owner};
  return {type, shape, address, owner};
}

int64_t SharedTensors::bytes() const {
  const std::lock_guard lock(blocks_->mutex);
  int64_t bytes = 0;
  for (const auto& [address, block] : blocks_->by_address) bytes += block.bytes;
  return bytes;
}

std::shared_ptr<const void> SharedTensors::OwnerOf(const void* data, int64_t bytes) const {
  const auto* const begin = static_cast<const std::byte*>(data);
  const std::lock_guard lock(blocks_->mutex);
  auto block = blocks_->by_address.upper_bound(begin);
  if (block == blocks_->by_address.begin()) return nullptr;
  --block;
  const bool inside = begin - block->first + bytes <= block->second.bytes;
  return inside ? block->second.owner.lock() : nullptr;
}

}  // namespace mete::opencl
