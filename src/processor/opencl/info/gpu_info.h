// What is known about a GPU: the facts that its driver states, and those that probe kernels have shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  int64_t base_alignment = 0;         // bytes; values lie at multiples of it
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

// What something takes, in microseconds, over some repetitions.
struct Times {
  double median_us = 0;
  double p95_us = 0;  // the 95th percentile: what one repetition in twenty exceeds

  bool operator==(const Times&) const = default;
};

// What probe kernels have shown (probe/probe.h). A figure of 0 was not measured; `problems` say why.
struct ProbeFacts {
  bool computes_f32 = false;  // without this Mete uses nothing of the device
  bool stores_f16 = false;    // vload_half and vstore_half: halves in memory, f32 in registers
  bool computes_f16 = false;  // half arithmetic, stated or not
  // How products of four pairs of i8 are summed in one instruction: "khr" (in OpenCL C 3.0), "arm" or
  // "nvidia"; "": not at all.
  std::string dot8;

  bool maps_in_place = false;     // a map of the driver's memory for the host (Memory::kMapped) is no copy
  bool uses_host_memory = false;  // a map of the caller's memory (Memory::kHost) is no copy
  bool shares_memory = false;     // the host saw what a kernel wrote without a map (SharedMemory)
  Times small_map;                // to map and unmap 4 KiB of the driver's memory
  Times map;                      // to map and unmap 4 MiB of the driver's memory that a kernel has written
  Times host_map;                 // the same of the caller's memory
  Times read;                     // to read 4 MiB of the device's memory into the caller's
  Times host_copy;                // for the host to copy 4 MiB of its own memory

  double f32_gflops = 0;  // of multiply-adds that wait for nothing: two operations each
  double f16_gflops = 0;  // the same in halves
  Times launch_drained;   // from a launch into an empty queue until the host knows of its end
  Times launch_asleep;    // the same, if nothing has been launched for a millisecond
  Times launch_running;   // of each further launch in a queue that is not drained
  double build_ms = 0;    // to compile the first kernel

  bool out_of_time = false;           // some probes were not begun: the facts are not complete
  std::vector<std::string> problems;  // what a probe could not show, and why

  bool operator==(const ProbeFacts&) const = default;
};

struct Gpu {
  DeviceFacts facts;
  ProbeFacts proved;

  bool operator==(const Gpu&) const = default;
};

// The GPUs of this machine, and why other devices are none, or why there are none.
struct GpuList {
  std::vector<Gpu> gpus;
  std::vector<std::string> left_out;
  // The drivers of which alone the GPUs are, because others crash or hang, by the files that register them
  // (/etc/OpenCL/vendors/pocl.icd); empty: all drivers may be loaded.
  std::vector<std::string> drivers;

  bool operator==(const GpuList&) const = default;
};

// Returns the place of a device's type in the order that gives devices their numbers: GPUs come first, then
// accelerators, then CPUs, so that a GPU keeps its number whether or not CPUs count.
int OrderOfType(const std::string& type);

// Returns all that decides over the times and the binary of a kernel beside its text, as lines.
std::string DriverText(const DeviceFacts& facts);

}  // namespace mete::opencl
