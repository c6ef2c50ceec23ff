#include <algorithm>

#include "base/error.h"
#include "processor/opencl/api/loaded/state.h"

namespace mete::opencl {
namespace {

constexpr size_t kMostLog = 4000;  // characters of the compiler's words in an Error; a guess: some 40 lines

void ReleaseProgram(const ContextState& of, void* object) {
  of.cl.clReleaseProgram(static_cast<cl_program>(object));
}

void ReleaseKernel(const ContextState& of, void* object) {
  of.cl.clReleaseKernel(static_cast<cl_kernel>(object));
}

std::string BuildLog(const ContextState& of, cl_program program) {
  size_t bytes = 0;
  const cl_device_id device = of.device.state().id;
  of.cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  of.cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  return log.substr(0, std::min(log.find('\0'), kMostLog));
}

}  // namespace

Program::Program(const Context& context, const std::string& text, const std::string& options) {
  const ContextState& of = *context.state();
  const char* start = text.data();
  const size_t length = text.size();
  cl_int problem = CL_SUCCESS;
  cl_program program = of.cl.clCreateProgramWithSource(of.context, 1, &start, &length, &problem);
  of.Check(problem, "clCreateProgramWithSource");
  object_ = Own(context.state(), program, ReleaseProgram);
  Build(options);
}

Program::Program(const Context& context, std::span<const std::byte> binary, const std::string& options) {
  const ContextState& of = *context.state();
  const auto* start = reinterpret_cast<const unsigned char*>(binary.data());
  const size_t length = binary.size();
  cl_int problem = CL_SUCCESS, taken = CL_SUCCESS;
  cl_program program = of.cl.clCreateProgramWithBinary(of.context, 1, &of.device.state().id, &length, &start,
                                                       &taken, &problem);
  // An empty binary is an invalid value for OpenCL; for the caller it is a damaged file like others.
  if (problem == CL_INVALID_VALUE || taken != CL_SUCCESS) problem = CL_INVALID_BINARY;
  if (program) object_ = Own(context.state(), program, ReleaseProgram);
  of.Check(problem, "clCreateProgramWithBinary");
  Build(options);
}

void Program::Build(const std::string& options) {
  const ContextState& of = Of(object_);
  auto* program = static_cast<cl_program>(get());
  const cl_int problem =
      of.cl.clBuildProgram(program, 1, &of.device.state().id, options.c_str(), nullptr, nullptr);
  if (problem == CL_BUILD_PROGRAM_FAILURE)
    Fail(Code::kInternal, of.name(), "a kernel does not compile; the driver's compiler says:\n{}",
         BuildLog(of, program));
  of.Check(problem, "clBuildProgram");
}

std::vector<std::byte> Program::binary() const {
  const ContextState& of = Of(object_);
  auto* program = static_cast<cl_program>(get());
  size_t bytes = 0;
  of.Check(of.cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr),
           "clGetProgramInfo(BINARY_SIZES)");
  std::vector<std::byte> binary(bytes);
  auto* start = reinterpret_cast<unsigned char*>(binary.data());
  of.Check(of.cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof start, &start, nullptr),
           "clGetProgramInfo(BINARIES)");
  return binary;
}

Kernel::Kernel(const Program& program, const std::string& name) : name_(name) {
  const ContextState& of = Of(program.object_);
  cl_int problem = CL_SUCCESS;
  cl_kernel kernel = of.cl.clCreateKernel(static_cast<cl_program>(program.get()), name.c_str(), &problem);
  of.Check(problem, fmt::format("clCreateKernel of '{}'", name).c_str());
  object_ = Own(program.object_.get_deleter().of, kernel, ReleaseKernel);
}

Kernel& Kernel::SetBytes(uint32_t index, const void* value, size_t bytes) {
  const ContextState& of = Of(object_);
  const cl_int problem = of.cl.clSetKernelArg(static_cast<cl_kernel>(get()), index, bytes, value);
  if (problem != CL_SUCCESS)
    of.Check(problem, fmt::format("clSetKernelArg {} of '{}'", index, name_).c_str());
  return *this;
}

Kernel& Kernel::Set(uint32_t index, const Buffer& buffer) {
  void* memory = buffer.get();  // a cl_mem, which OpenCL takes by its address
  return SetBytes(index, &memory, sizeof memory);
}

Kernel& Kernel::SetPlace(uint32_t place, const Buffer& buffer, int64_t offset, int64_t bytes) {
  if (offset < 0 || bytes < 0 || offset > buffer.bytes() - bytes)
    Fail(Code::kInternal, Of(object_).name(),
         "a part of a buffer is outside of it; got {} bytes from {} on, expected at most {}", bytes, offset,
         buffer.bytes());
  return Set(2 * place, buffer).Set(2 * place + 1, uint64_t(offset));
}

Kernel& Kernel::SetShared(uint32_t index, const void* address) {
  const ContextState& of = Of(object_);
  of.Check(of.cl.clSetKernelArgSVMPointer(static_cast<cl_kernel>(get()), index, address),
           "clSetKernelArgSVMPointer");
  return *this;
}

Kernel& Kernel::SetLocal(uint32_t index, int64_t bytes) { return SetBytes(index, nullptr, size_t(bytes)); }

int64_t Kernel::most_group_items() const {
  const ContextState& of = Of(object_);
  size_t items = 0;
  of.Check(of.cl.clGetKernelWorkGroupInfo(static_cast<cl_kernel>(get()), of.device.state().id,
                                          CL_KERNEL_WORK_GROUP_SIZE, sizeof items, &items, nullptr),
           "clGetKernelWorkGroupInfo");
  return int64_t(items);
}

}  // namespace mete::opencl
