#include "bench/opencl/clblast.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <clblast_c.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <vector>

namespace mete {
namespace {

void Check(int status, const char* call) {
  if (status) throw std::runtime_error(std::string(call) + ": OpenCL's error " + std::to_string(status));
}

// The first device, or one of its compute units, with a queue. It lives until the program's end.
struct ClDevice {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  explicit ClDevice(int unit) {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    Check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    Check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    if (unit >= 0) {
      const cl_device_partition_property single[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
      cl_uint count = 0;
      Check(clCreateSubDevices(device, single, 0, nullptr, &count), "clCreateSubDevices");
      std::vector<cl_device_id> units(count);
      Check(clCreateSubDevices(device, single, count, units.data(), nullptr), "clCreateSubDevices");
      device = units.at(size_t(unit));
    }
    int status = 0;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    Check(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &status);
    Check(status, "clCreateCommandQueue");
  }

  cl_mem Zeros(int64_t elements) const {
    int status = 0;
    const float zero = 0;
    const cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, size_t(elements) * 4, nullptr, &status);
    Check(status, "clCreateBuffer");
    Check(clEnqueueFillBuffer(queue, buffer, &zero, 4, 0, size_t(elements) * 4, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
    return buffer;
  }
};

}  // namespace

double ClblastSeconds(int unit, int64_t m, int64_t n, int64_t k) {
  static ClDevice device(unit);
  const cl_mem a = device.Zeros(m * k), b = device.Zeros(k * n), c = device.Zeros(m * n);
  double best = 1e30;
  for (int i = 0; i < 6; ++i) {  // the first one compiles
    const auto start = std::chrono::steady_clock::now();
    Check(CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, size_t(m), size_t(n),
                       size_t(k), 1, a, 0, size_t(k), b, 0, size_t(n), 0, c, 0, size_t(n), &device.queue,
                       nullptr),
          "CLBlastSgemm");
    Check(clFinish(device.queue), "clFinish");
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  for (cl_mem buffer : {a, b, c}) clReleaseMemObject(buffer);
  return best;
}

}  // namespace mete
