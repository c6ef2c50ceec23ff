#include "processor/opencl/api/loaded/platforms.h"

#include <dlfcn.h>

// What the names below come from: the table of functions to which the first word of a platform points.
#include <CL/cl_icd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "processor/opencl/api/loaded/text_of.h"

namespace mete::opencl {
namespace {

using GetPlatforms = decltype(Functions::clGetPlatformIDs);
using GetFunction = void*(CL_API_CALL*)(const char* name);

constexpr cl_uint kMostPlatforms = 64;  // guess, of all drivers
constexpr size_t kLongestPath = 4096;   // PATH_MAX

std::vector<cl_platform_id> PlatformsBy(GetPlatforms get, const std::string& where) {
  cl_uint count = 0;
  Check(get(0, nullptr, &count), where, "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(std::min(count, kMostPlatforms));
  if (!platforms.empty())
    Check(get(cl_uint(platforms.size()), platforms.data(), nullptr), where, "clGetPlatformIDs");
  return platforms;
}

// Returns the path of the library that the file names.
std::string LibraryOf(const std::string& file) {
  std::string path(kLongestPath, '\0');
  std::ifstream in(file);
  in.read(path.data(), std::streamsize(path.size()));
  path.resize(size_t(in.gcount()));
  path = path.substr(0, path.find_first_of("\r\n"));
  if (path.empty()) Fail(Code::kUnavailable, file, "names no driver of OpenCL");
  return path;
}

GetPlatforms LoadDriver(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* problem = dlerror();
    Fail(Code::kUnavailable, path, "cannot load this driver; got '{}'",
         Printable(problem ? problem : "an unknown error"));
  }
  constexpr const char* kName = "clIcdGetPlatformIDsKHR";
  void* get = dlsym(library, kName);
  if (!get)
    if (const auto find = reinterpret_cast<GetFunction>(dlsym(library, "clGetExtensionFunctionAddress")))
      get = find(kName);
  if (!get) Fail(Code::kUnavailable, path, "no driver of OpenCL; got no function {}, expected one", kName);
  return reinterpret_cast<GetPlatforms>(get);
}

// The tables of drivers for OpenCL 1.2 end before the functions of 2.0.
bool HasFunctionsOf2(const Functions& cl, cl_platform_id platform) {
  const std::string version = TextOf([&](size_t bytes, void* text, size_t* needed) {
    return cl.clGetPlatformInfo(platform, CL_PLATFORM_VERSION, bytes, text, needed);
  });
  return version >= "OpenCL 2";  // "OpenCL 3.0 PoCL 3.1+debian ..."
}

std::unique_ptr<const Functions> FunctionsOf(cl_platform_id platform, const std::string& where) {
  const auto* table = *reinterpret_cast<const cl_icd_dispatch* const*>(platform);
  if (!table) Fail(Code::kUnavailable, where, "a driver that only a loader can use: it has no table");
  auto all = std::make_unique<Functions>();
#define METE_OPENCL_TAKE(name) \
  all->name = table->name;     \
  if (!all->name) Fail(Code::kUnavailable, where, "no driver of OpenCL 1.2; got no function {}", #name);
  METE_OPENCL_FUNCTIONS(METE_OPENCL_TAKE)
#undef METE_OPENCL_TAKE
  if (HasFunctionsOf2(*all, platform)) {
    all->clSVMAlloc = reinterpret_cast<SvmAlloc>(table->clSVMAlloc);
    all->clSVMFree = reinterpret_cast<SvmFree>(table->clSVMFree);
    all->clSetKernelArgSVMPointer = reinterpret_cast<SetKernelArgSvm>(table->clSetKernelArgSVMPointer);
  }
  return all;
}

// Returns the functions of a platform, which live as long as the program.
const Functions& KeptFunctions(cl_platform_id platform, const std::string& where) {
  static std::mutex mutex;
  static auto& all = *new std::map<cl_platform_id, std::unique_ptr<const Functions>>;
  const std::lock_guard lock(mutex);
  auto& kept = all[platform];
  if (!kept) kept = FunctionsOf(platform, where);
  return *kept;
}

}  // namespace

std::vector<Platform> PlatformsOfLoader() {
  const Functions& cl = LoadedFunctions();
  std::vector<Platform> platforms;
  for (cl_platform_id id : PlatformsBy(cl.clGetPlatformIDs, "OpenCL")) platforms.push_back({cl, id});
  return platforms;
}

std::vector<Platform> PlatformsOfDriver(const std::string& file) {
  const std::string library = LibraryOf(file);
  std::vector<Platform> platforms;
  for (cl_platform_id id : PlatformsBy(LoadDriver(library), library))
    platforms.push_back({KeptFunctions(id, library), id});
  return platforms;
}

}  // namespace mete::opencl
