// A device whose driver fails on demand, for tests: its calls go to the real driver until they are told not
// to.
#pragma once

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "processor/opencl/api/loaded/state.h"

namespace mete::opencl {

// What calls return from now on; CL_SUCCESS: what the driver returns. One for the whole test program.
struct Faults {
  std::atomic<cl_int> buffers = CL_SUCCESS;    // clCreateBuffer
  std::atomic<cl_int> builds = CL_SUCCESS;     // clBuildProgram
  std::atomic<cl_int> launches = CL_SUCCESS;   // clEnqueueNDRangeKernel
  std::atomic<cl_int> binaries = CL_SUCCESS;   // clCreateProgramWithBinary
  std::atomic<bool> no_shared_memory = false;  // clSVMAlloc finds none
  std::atomic<bool> events_hang = false;  // the status of a command stays "submitted", and nobody is called
  std::atomic<cl_int> commands = CL_SUCCESS;  // the status with which a command ends

  std::vector<std::function<void()>> unheard;  // the calls of commands that hang, which Clear() makes

  static Faults& Now() {
    static Faults faults;
    return faults;
  }
  static void Clear() {
    Faults& f = Now();
    f.buffers = f.builds = f.launches = f.binaries = f.commands = CL_SUCCESS;
    f.no_shared_memory = f.events_hang = false;
    for (const auto& call : std::exchange(f.unheard, {})) call();
  }
};

inline cl_mem CL_API_CALL FaultyBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host,
                                       cl_int* problem) {
  *problem = Faults::Now().buffers;
  return *problem ? nullptr : LoadedFunctions().clCreateBuffer(context, flags, bytes, host, problem);
}

inline void* CL_API_CALL FaultySharedMemory(cl_context context, cl_bitfield flags, size_t bytes,
                                            cl_uint alignment) {
  if (Faults::Now().no_shared_memory) return nullptr;
  return LoadedFunctions().clSVMAlloc(context, flags, bytes, alignment);
}

inline cl_int CL_API_CALL FaultyBuild(cl_program program, cl_uint count, const cl_device_id* devices,
                                      const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                                      void* data) {
  if (const cl_int problem = Faults::Now().builds) return problem;
  return LoadedFunctions().clBuildProgram(program, count, devices, options, notify, data);
}

inline cl_program CL_API_CALL FaultyBinary(cl_context context, cl_uint count, const cl_device_id* devices,
                                           const size_t* lengths, const unsigned char** binaries,
                                           cl_int* states, cl_int* problem) {
  *problem = Faults::Now().binaries;
  if (*problem) return nullptr;
  return LoadedFunctions().clCreateProgramWithBinary(context, count, devices, lengths, binaries, states,
                                                     problem);
}

inline cl_int CL_API_CALL FaultyLaunch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                       const size_t* offset, const size_t* items, const size_t* group,
                                       cl_uint waits, const cl_event* list, cl_event* done) {
  if (const cl_int problem = Faults::Now().launches) return problem;
  return LoadedFunctions().clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, items, group, waits,
                                                  list, done);
}

inline cl_int CL_API_CALL FaultyStatus(cl_event event, cl_event_info which, size_t bytes, void* to,
                                       size_t* all) {
  const cl_int got = LoadedFunctions().clGetEventInfo(event, which, bytes, to, all);
  if (which != CL_EVENT_COMMAND_EXECUTION_STATUS || got != CL_SUCCESS) return got;
  auto& status = *static_cast<cl_int*>(to);
  if (Faults::Now().events_hang) status = CL_SUBMITTED;
  else if (status == CL_COMPLETE && Faults::Now().commands) status = Faults::Now().commands;
  return got;
}

inline cl_int CL_API_CALL FaultyCallback(cl_event event, cl_int type,
                                         void(CL_CALLBACK* notify)(cl_event, cl_int, void*), void* data) {
  Faults& faults = Faults::Now();
  if (!faults.events_hang) return LoadedFunctions().clSetEventCallback(event, type, notify, data);
  faults.unheard.emplace_back([=] { notify(event, CL_COMPLETE, data); });
  return CL_SUCCESS;
}

// Returns the device with a driver that has the Faults of this program.
inline Device WithFaults(const Device& device) {
  static const Functions faulty = [] {
    Functions all = LoadedFunctions();
    all.clCreateBuffer = FaultyBuffer;
    if (all.clSVMAlloc) all.clSVMAlloc = FaultySharedMemory;
    all.clBuildProgram = FaultyBuild;
    all.clCreateProgramWithBinary = FaultyBinary;
    all.clEnqueueNDRangeKernel = FaultyLaunch;
    all.clGetEventInfo = FaultyStatus;
    all.clSetEventCallback = FaultyCallback;
    return all;
  }();
  return Device(std::make_shared<DeviceState>(faulty, device.state().id, /*sub=*/false), device.facts());
}

}  // namespace mete::opencl
