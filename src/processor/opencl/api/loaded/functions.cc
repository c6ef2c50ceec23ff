#include "processor/opencl/api/loaded/functions.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.h"

namespace mete::opencl {
namespace {

// Android's drivers install the second name alone, and so do some boards' (Arm's libmali).
constexpr const char* kNames[] = {"libOpenCL.so.1", "libOpenCL.so"};

std::string LoaderProblem() {
  const char* problem = dlerror();
  return Printable(problem ? problem : "an unknown error");
}

template <class F>
void Find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
}

template <class F>
void Require(void* library, const std::string& path, const char* name, F& function) {
  Find(library, name, function);
  if (!function)
    Fail(Code::kUnavailable, path,
         "no loader of OpenCL 1.2; got no function {}, expected one; try to update it", name);
}

Functions LoadThis(void* library, const std::string& path) {
  Functions all;
#define METE_OPENCL_LOAD(name) Require(library, path, #name, all.name);
  METE_OPENCL_FUNCTIONS(METE_OPENCL_LOAD)
#undef METE_OPENCL_LOAD
  Find(library, "clSVMAlloc", all.clSVMAlloc);
  Find(library, "clSVMFree", all.clSVMFree);
  Find(library, "clSetKernelArgSVMPointer", all.clSetKernelArgSVMPointer);
  return all;
}

Functions LoadFirst() {
  const char* own = std::getenv("METE_OPENCL_LIBRARY");
  if (own && *own) return LoadFunctions(own);
  std::string problem;
  for (const char* name : kNames) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library) return LoadThis(library, name);
    if (problem.empty()) problem = LoaderProblem();
  }
  Fail(Code::kUnavailable, kNames[0],
       "there is no loader of OpenCL; got '{}'; try 'apt install ocl-icd-libopencl1', and the driver of the "
       "GPU",
       problem);
}

}  // namespace

Functions LoadFunctions(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) Fail(Code::kUnavailable, path, "cannot load this library; got '{}'", LoaderProblem());
  return LoadThis(library, path);
}

const Functions& LoadedFunctions() {
  static const Functions all = LoadFirst();  // a failure is tried again: the file may be there by then
  return all;
}

}  // namespace mete::opencl
