// The functions of OpenCL's loader, which is looked for when the program runs. Only this folder includes this
// header, and with it OpenCL's own. Functions that are newer than OpenCL 1.2 may be missing.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace mete::opencl {

// Every function of OpenCL 1.2 that Mete calls.
#define METE_OPENCL_FUNCTIONS(X) \
  X(clGetPlatformIDs)            \
  X(clGetPlatformInfo)           \
  X(clGetDeviceIDs)              \
  X(clGetDeviceInfo)             \
  X(clCreateSubDevices)          \
  X(clReleaseDevice)             \
  X(clCreateContext)             \
  X(clReleaseContext)            \
  X(clCreateCommandQueue)        \
  X(clReleaseCommandQueue)       \
  X(clCreateBuffer)              \
  X(clReleaseMemObject)          \
  X(clCreateProgramWithSource)   \
  X(clCreateProgramWithBinary)   \
  X(clBuildProgram)              \
  X(clGetProgramInfo)            \
  X(clGetProgramBuildInfo)       \
  X(clReleaseProgram)            \
  X(clCreateKernel)              \
  X(clSetKernelArg)              \
  X(clGetKernelWorkGroupInfo)    \
  X(clReleaseKernel)             \
  X(clEnqueueNDRangeKernel)      \
  X(clEnqueueWriteBuffer)        \
  X(clEnqueueReadBuffer)         \
  X(clEnqueueCopyBuffer)         \
  X(clEnqueueMapBuffer)          \
  X(clEnqueueUnmapMemObject)     \
  X(clEnqueueMarkerWithWaitList) \
  X(clFlush)                     \
  X(clFinish)                    \
  X(clCreateUserEvent)           \
  X(clSetUserEventStatus)        \
  X(clSetEventCallback)          \
  X(clGetEventInfo)              \
  X(clGetEventProfilingInfo)     \
  X(clWaitForEvents)             \
  X(clReleaseEvent)

// OpenCL 2.0, which the headers do not declare for 1.2 (Khronos, OpenCL API specification 3.0, 5.6).
using SvmAlloc = void*(CL_API_CALL*)(cl_context, cl_bitfield, size_t, cl_uint);
using SvmFree = void(CL_API_CALL*)(cl_context, void*);
using SetKernelArgSvm = cl_int(CL_API_CALL*)(cl_kernel, cl_uint, const void*);
inline constexpr cl_bitfield kSvmFineGrainBuffer = 1 << 10;       // CL_MEM_SVM_FINE_GRAIN_BUFFER
inline constexpr cl_device_info kDeviceSvmCapabilities = 0x1053;  // CL_DEVICE_SVM_CAPABILITIES
inline constexpr cl_bitfield kDeviceSvmCoarse = 1 << 0, kDeviceSvmFine = 1 << 1;

struct Functions {
#define METE_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  METE_OPENCL_FUNCTIONS(METE_OPENCL_MEMBER)
#undef METE_OPENCL_MEMBER
  SvmAlloc clSVMAlloc = nullptr;                       // may be null
  SvmFree clSVMFree = nullptr;                         // may be null
  SetKernelArgSvm clSetKernelArgSVMPointer = nullptr;  // may be null
};

// Loads the library at `path`, or of that name, and never unloads it: drivers have threads of their own that
// would then have no code. Error UNAVAILABLE if there is no such library or it lacks a function.
Functions LoadFunctions(const std::string& path);

// Returns the functions of this machine's loader, which the first call loads: those of the library that the
// environment variable METE_OPENCL_LIBRARY names, else of libOpenCL.so.1 or libOpenCL.so.
const Functions& LoadedFunctions();

// Throws an Error that names the device (or what else `where` is) and the call, if `code` is an error.
void Check(cl_int code, const std::string& where, const char* call);

// Returns the error in words: "no memory for a buffer (CL_MEM_OBJECT_ALLOCATION_FAILURE, -4)".
std::string WordsFor(cl_int code);

}  // namespace mete::opencl
