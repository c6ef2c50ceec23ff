// Where the inputs and outputs of a share lie on a device: memory that the host reaches too and that belongs
// to the share. No command of the device ever touches the caller's memory, so that a queue that hangs can be
// abandoned while the caller goes on.
#pragma once

#include <cstddef>
#include <utility>

#include "processor/opencl/gpu/buffer_parts.h"
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

  // Makes bytes of it the argument of a kernel.
  void Set(Kernel& kernel, uint32_t index, int64_t offset, int64_t bytes);

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
  // Copies them out, when everything before has ended.
  void CopyOut(Queue& queue, void* to, int64_t bytes);
  // Ends the reading without a copy.
  Event Unmap(Queue& queue);

  int64_t bytes() const { return bytes_; }

 private:
  void CopyFrom(const void* from, int64_t bytes);

  StagingKind kind_;
  int64_t bytes_ = 0;
  SharedMemory shared_;
  Buffer buffer_;
  BufferParts parts_;
  std::byte* address_ = nullptr;  // for the host; null: not mapped
};

}  // namespace mete::opencl
