#include "run/buffers.h"

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace mete {
namespace {

// Room for the control block of a shared pointer with a Lender: it takes 56 bytes in libstdc++ 12.
constexpr size_t kControlBytes = 128, kControlAlign = alignof(std::max_align_t);

// How many times as large as the need a buffer may be. With no limit a small tensor that is lent for long
// would occupy a large buffer, and the next large tensor would need another one. This value is a guess.
constexpr size_t kMostRoom = 4;

}  // namespace

struct Buffers::Buffer {
  explicit Buffer(Tensor tensor) : memory(std::move(tensor)) {}

  Tensor memory;
  bool lent = false;
  alignas(kControlAlign) std::byte control[kControlBytes];
};

struct Buffers::Pool {
  explicit Pool(MakeTensor make_tensor) : make(std::move(make_tensor)) {}

  // The smallest free one that is large enough, and not far too large, so that what a plan's stages need one
  // after the other has one memory.
  Buffer* Free(size_t bytes) const {
    Buffer* best = nullptr;
    for (const auto& buffer : all)
      if (!buffer->lent && buffer->memory.bytes() >= bytes && buffer->memory.bytes() / kMostRoom <= bytes &&
          (!best || buffer->memory.bytes() < best->memory.bytes()))
        best = buffer.get();
    return best;
  }
  Buffer& Lend(size_t bytes) {
    std::lock_guard lock(mutex);
    Buffer* buffer = Free(bytes);
    if (!buffer) {
      const Shape shape{int64_t(bytes)};
      all.push_back(std::make_unique<Buffer>(make ? make(DType::kU8, shape) : Tensor(DType::kU8, shape)));
      buffer = all.back().get();
    }
    buffer->lent = true;
    return *buffer;
  }
  // The lock orders what the last reader has read before what the next borrower writes.
  void Return(Buffer& buffer) {
    std::lock_guard lock(mutex);
    buffer.lent = false;
  }

  const MakeTensor make;
  std::mutex mutex;
  std::vector<std::unique_ptr<Buffer>> all;
};

// Keeps the control block of a lent tensor's shared pointer within the buffer. The pointer gives the block
// back as the last thing that it does, and the buffer is free from then on.
template <class T>
class Buffers::Lender {
 public:
  using value_type = T;

  Lender(std::shared_ptr<Pool> pool, Buffer& buffer) : pool_(std::move(pool)), buffer_(&buffer) {}
  template <class U>
  Lender(const Lender<U>& other) : pool_(other.pool_), buffer_(other.buffer_) {}

  T* allocate(size_t) {
    static_assert(sizeof(T) <= kControlBytes);
    static_assert(alignof(T) <= kControlAlign);
    return reinterpret_cast<T*>(buffer_->control);
  }
  void deallocate(T*, size_t) { pool_->Return(*buffer_); }
  bool operator==(const Lender& other) const { return buffer_ == other.buffer_; }

 private:
  template <class U>
  friend class Lender;

  std::shared_ptr<Pool> pool_;
  Buffer* buffer_;
};

Buffers::Buffers(MakeTensor make) : pool_(std::make_shared<Pool>(std::move(make))) {}

Tensor Buffers::Take(DType type, const Shape& shape) {
  Buffer& buffer = pool_->Lend(size_t(shape.Elements()) * SizeOf(type));
  const void* const data = buffer.memory.data();
  return {type, shape, data,
          std::shared_ptr<const void>(
              data, [](const void*) {}, Lender<std::byte>(pool_, buffer))};
}

}  // namespace mete
