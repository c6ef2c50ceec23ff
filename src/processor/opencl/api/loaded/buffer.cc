#include "base/error.h"
#include "processor/opencl/api/loaded/state.h"

namespace mete::opencl {
namespace {

void ReleaseBuffer(const ContextState& of, void* object) {
  of.cl.clReleaseMemObject(static_cast<cl_mem>(object));
}

void FreeShared(const ContextState& of, void* object) { of.cl.clSVMFree(of.context, object); }

cl_mem_flags FlagsFor(Memory memory) {
  switch (memory) {
    case Memory::kDevice: return CL_MEM_READ_WRITE;
    case Memory::kMapped: return CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
    case Memory::kHost: return CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
  }
  return CL_MEM_READ_WRITE;
}

// Some drivers make a buffer of any size, and fail at its first use: NVIDIA's made one of a pebibyte.
void CheckFits(const Context& context, int64_t bytes) {
  const int64_t most = context.facts().most_allocation_bytes;
  if (most > 0 && bytes > most)
    Fail(Code::kResourceExhausted, context.facts().name,
         "a buffer of {} bytes; got more than the device has in one, expected at most {}", bytes, most);
}

// OpenCL knows sizes without a sign.
size_t SizeOf(const ContextState& of, int64_t bytes) {
  if (bytes <= 0) Invalid(of.name(), "memory of {} bytes; expected 1 at least", bytes);
  return size_t(bytes);
}

}  // namespace

Buffer::Buffer(const Context& context, const BufferOptions& options) : bytes_(options.bytes) {
  const ContextState& of = *context.state();
  if ((options.memory == Memory::kHost) != (options.host != nullptr))
    Invalid(of.name(), "a buffer in the host's memory needs an address, and no other buffer has one");
  CheckFits(context, bytes_);
  cl_int problem = CL_SUCCESS;
  cl_mem memory =
      of.cl.clCreateBuffer(of.context, FlagsFor(options.memory), SizeOf(of, bytes_), options.host, &problem);
  of.Check(problem, fmt::format("clCreateBuffer of {} bytes", bytes_).c_str());
  object_ = Own(context.state(), memory, ReleaseBuffer);
}

SharedMemory::SharedMemory(const Context& context, int64_t bytes) {
  const ContextState& of = *context.state();
  const bool can = of.cl.clSVMAlloc && of.cl.clSVMFree && of.cl.clSetKernelArgSVMPointer;
  if (!can || !context.facts().has_fine_svm)
    Fail(Code::kUnimplemented, of.name(), "the device has no memory that both sides see without a map");
  void* memory = of.cl.clSVMAlloc(of.context, CL_MEM_READ_WRITE | kSvmFineGrainBuffer, SizeOf(of, bytes), 0);
  if (!memory) Fail(Code::kResourceExhausted, of.name(), "clSVMAlloc of {} bytes: no memory", bytes);
  object_ = Own(context.state(), memory, FreeShared);
}

}  // namespace mete::opencl
