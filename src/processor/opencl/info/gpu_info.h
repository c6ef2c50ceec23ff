// What is known about a GPU: the facts that its driver states, and those that probe kernels have shown.
#pragma once

#include <cstdint>
#include <string>

namespace mete::opencl {

// What the driver states. Nothing here is proved: drivers leave out types that they have, and claim others.
struct DeviceFacts {
  // A stable name within this machine: "gpu:0", or "gpu:0/1" for the second compute unit of gpu:0 alone.
  std::string name;
  std::string type;      // "gpu", "accelerator" or "cpu"
  std::string model;     // CL_DEVICE_NAME: "Mali-G78"
  std::string vendor;    // CL_DEVICE_VENDOR
  std::string platform;  // CL_PLATFORM_NAME, the name of the driver's implementation
  std::string driver;    // CL_DRIVER_VERSION
  std::string version;   // CL_DEVICE_VERSION: "OpenCL 3.0 ..."
  int64_t compute_units = 0;
  int64_t clock_mhz = 0;
  int64_t memory_bytes = 0;
  int64_t most_allocation_bytes = 0;  // the largest buffer
  int64_t local_bytes = 0;            // local memory of a work-group
  bool local_is_separate = false;     // local memory is of its own, and no part of the global memory
  int64_t cache_bytes = 0;            // of global memory; 0: unknown, or none
  int64_t most_group_items = 0;       // the most work-items in a work-group
  int64_t most_group_sizes[3] = {};   // and in each dimension
  int64_t sub_buffer_alignment = 0;   // bytes
  int64_t float_vector = 0;           // CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT
  bool has_unified_memory = false;    // CL_DEVICE_HOST_UNIFIED_MEMORY
  bool has_svm = false;               // shared virtual memory, coarse-grained at least
  bool has_fine_svm = false;          // fine-grained: memory that both sides see without a map
  bool states_f16 = false;            // the extension cl_khr_fp16
  bool states_f64 = false;            // the extension cl_khr_fp64
  bool states_dot8 = false;           // the extension cl_khr_integer_dot_product
  // The most sub-devices of one compute unit each; 0: the device is not divisible.
  int64_t most_sub_devices = 0;

  bool operator==(const DeviceFacts&) const = default;
};

}  // namespace mete::opencl
