// OpenCL's errors in words.
#include <iterator>

#include "base/error.h"
#include "processor/opencl/api/loaded/functions.h"

namespace mete::opencl {
namespace {

struct ErrorWords {
  cl_int code;
  const char* name;
  const char* words;
  Code means = Code::kInternal;
};

// The errors that come from the state of a machine; the others, from -30 on, are mistakes in a call. Names
// and numbers are those of CL/cl.h.
constexpr ErrorWords kErrors[] = {
    {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND", "the driver has no device", Code::kUnavailable},
    {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE", "the device is in use or lost", Code::kUnavailable},
    {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE", "the driver has no compiler",
     Code::kUnavailable},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE", "no memory for a buffer",
     Code::kResourceExhausted},
    {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", "the device is out of a resource, or a kernel has crashed",
     Code::kResourceExhausted},
    {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", "the driver has no memory on the host",
     Code::kResourceExhausted},
    {CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE", "the event has no times"},
    {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE", "the program does not compile"},
    {CL_MAP_FAILURE, "CL_MAP_FAILURE", "the buffer cannot be mapped", Code::kResourceExhausted},
    {CL_MISALIGNED_SUB_BUFFER_OFFSET, "CL_MISALIGNED_SUB_BUFFER_OFFSET",
     "the part of a buffer is misaligned"},
    {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
     "a command that this one waits for has failed"},
    {CL_INVALID_VALUE, "CL_INVALID_VALUE", "a value is invalid"},
    {CL_INVALID_PLATFORM, "CL_INVALID_PLATFORM", "the platform is invalid"},
    {CL_INVALID_DEVICE, "CL_INVALID_DEVICE", "the device is invalid"},
    {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT", "the context is invalid"},
    {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE", "the queue is invalid"},
    {CL_INVALID_HOST_PTR, "CL_INVALID_HOST_PTR", "the host's memory does not serve"},
    {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT", "the buffer is invalid"},
    {CL_INVALID_BINARY, "CL_INVALID_BINARY", "the binary does not fit device and driver", Code::kDataLoss},
    {CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS", "the compiler's options are invalid"},
    {CL_INVALID_PROGRAM, "CL_INVALID_PROGRAM", "the program is invalid"},
    {CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE", "the program is not compiled"},
    {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME", "the program has no kernel of this name"},
    {CL_INVALID_KERNEL, "CL_INVALID_KERNEL", "the kernel is invalid"},
    {CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX", "the kernel has no such argument"},
    {CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE", "the argument is no such value"},
    {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE", "the argument has another size"},
    {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS", "an argument of the kernel is not set"},
    {CL_INVALID_WORK_DIMENSION, "CL_INVALID_WORK_DIMENSION", "the range has no dimension, or too many"},
    {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE",
     "the work-group is too large, or no divisor of the range"},
    {CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE", "the work-group is too large in a dimension"},
    {CL_INVALID_EVENT_WAIT_LIST, "CL_INVALID_EVENT_WAIT_LIST", "an event of the wait list is invalid"},
    {CL_INVALID_EVENT, "CL_INVALID_EVENT", "the event is invalid"},
    {CL_INVALID_OPERATION, "CL_INVALID_OPERATION", "the driver does not do it"},
    {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE",
     "the buffer is empty, or larger than the device allows", Code::kResourceExhausted},
    {CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE", "the range is empty or too large"},
    {CL_DEVICE_PARTITION_FAILED, "CL_DEVICE_PARTITION_FAILED", "the device cannot be divided",
     Code::kUnavailable},
    {CL_INVALID_DEVICE_PARTITION_COUNT, "CL_INVALID_DEVICE_PARTITION_COUNT",
     "the device has fewer compute units", Code::kUnavailable},
    // of cl_khr_icd: the loader found no driver
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR", "there is no driver", Code::kUnavailable},
};

const ErrorWords* Find(cl_int code) {
  for (const ErrorWords& e : kErrors)
    if (e.code == code) return &e;
  return nullptr;
}

}  // namespace

std::string WordsFor(cl_int code) {
  const ErrorWords* e = Find(code);
  return e ? fmt::format("{} ({}, {})", e->words, e->name, code) : fmt::format("OpenCL's error {}", code);
}

void Check(cl_int code, const std::string& where, const char* call) {
  if (code == CL_SUCCESS) return;
  const ErrorWords* e = Find(code);
  Fail(e ? e->means : Code::kInternal, where, "{}: {}", call, WordsFor(code));
}

}  // namespace mete::opencl
