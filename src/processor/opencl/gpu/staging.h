// Where the inputs and outputs of a share lie on a device: either in the caller's tensors, if the device sees
// these (gpu/shared_tensors.h), or in memory of the share's own that the host reaches too, to which they are
// copied. Commands of the device touch no other memory of the caller's, so that a queue that hangs can be
// abandoned while the caller goes on.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "processor/opencl/api/opencl.h"
#include "processor/opencl/info/gpu_info.h"

namespace mete::opencl {

enum class StagingKind {
  kShared,  // both sides see the same bytes, without commands
  kMapped,  // memory that the driver maps for the host, by a command for each request
};

// Returns the kind that a device's probes allow.
StagingKind StagingFor(const ProbeFacts& proved);
const char* Name(StagingKind kind);  // for people

class Staging {
 public:
  Staging(const Context& context, StagingKind kind, int64_t bytes);

  // Makes `bytes` of its bytes a kernel's buffer `place`.
  void Set(Kernel& kernel, uint32_t place, int64_t offset, int64_t bytes);
  // Returns the memory that arguments must refer to by now; another one than before: they must be set anew.
  const void* place() const { return adopted_ ? adopted_.get() : own(); }

  // From now on kernels use the caller's tensor, which `owner` keeps, instead of memory of the share's own.
  // Only for kShared.
  void Adopt(const void* data, std::shared_ptr<const void> owner) { adopted_ = {std::move(owner), data}; }
  bool adopts() const { return adopted_ != nullptr; }
  // Ends this: after all commands that use the tensor.
  void Leave() { adopted_ = nullptr; }
  // Frees memory of the share's own that can be allocated again when a request needs it.
  void Free();

  // Returns when `bytes` bytes of the host's have been copied here. Commands on the device wait for the event
  // that it returns. The memory is not in use. `await` waits for an event, with a deadline.
  template <class Await>
  Event CopyIn(Queue& queue, const void* from, int64_t bytes, Await await) {
    if (bytes == 0) return {};
    if (kind_ == StagingKind::kMapped) {
      (void)Unmap(queue);  // of a request that was given up
      Event mapped;
      address_ = queue.StartMap(buffer_, MapFor::kOverwrite, 0, bytes, mapped);
      queue.Flush();
      await(mapped);
    }
    CopyFrom(from, bytes);
    return Unmap(queue);
  }

  // Begins to make the bytes of the kernels before it readable for the host.
  void BeginRead(Queue& queue, int64_t bytes);
  // Copies them out, when everything before has ended. Nothing is copied to a tensor that it has adopted.
  void CopyOut(Queue& queue, void* to, int64_t bytes);
  // Ends the reading without a copy.
  Event Unmap(Queue& queue);

  int64_t memory_bytes() const;  // of the share's own

 private:
  void Allocate();
  void CopyFrom(const void* from, int64_t bytes);
  const void* own() const { return kind_ == StagingKind::kShared ? shared_.get() : buffer_.get(); }

  const Context* context_;
  StagingKind kind_;
  int64_t bytes_ = 0;
  SharedMemory shared_;  // allocated when it is needed
  Buffer buffer_;
  std::byte* address_ = nullptr;  // for the host; null: not mapped
  std::shared_ptr<const void> adopted_;
};

}  // namespace mete::opencl
