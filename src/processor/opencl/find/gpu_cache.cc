#define XXH_INLINE_ALL
#include "processor/opencl/find/gpu_cache.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/new_file.h"
#include "base/error.h"
#include "processor/opencl/find/mapped_files.h"

namespace mete::opencl {

namespace fs = std::filesystem;

namespace {

constexpr uintmax_t kLargestFile = 4 << 20;  // bytes; guess: an answer has 15 KB

// Whatever changes which libraries a process loads, or what loaders and drivers do: the dynamic linker's,
// ocl-icd's and Khronos's, PoCL's, Mesa's, NVIDIA's, AMD's, Intel's.
constexpr std::string_view kVariables[] = {"METE_GPU=", "METE_OPENCL_LIBRARY=",
                                           "LD_",       "OCL_ICD_",
                                           "OPENCL_",   "POCL_",
                                           "RUSTICL_",  "MESA_",
                                           "CUDA_",     "GPU_",
                                           "ROCR_",     "HIP_",
                                           "CL_",       "ZE_",
                                           "NEO"};

// Lists of drivers and of libraries, and drivers that no list has: those of Android.
constexpr const char* kFiles[] = {"/etc/ld.so.cache", "/vendor/lib64/libOpenCL.so",
                                  "/system/vendor/lib64/libOpenCL.so"};

// Names of the device files of GPUs: NVIDIA's, AMD's, Arm's, Qualcomm's; /dev/dri has those of Mesa.
constexpr std::string_view kDevices[] = {"nvidia", "kfd", "mali", "kgsl"};

std::vector<std::string> DeviceFiles() {
  std::vector<std::string> paths = EntriesOf("/dev/dri");
  for (const std::string& path : EntriesOf("/dev"))
    for (std::string_view name : kDevices)
      if (fs::path(path).filename().string().starts_with(name)) paths.push_back(path);
  return paths;
}

std::vector<std::string> Variables() {
  std::vector<std::string> all;
  for (char** e = environ; e && *e; ++e)
    for (std::string_view prefix : kVariables)
      if (std::string_view(*e).starts_with(prefix)) all.emplace_back(*e);
  std::sort(all.begin(), all.end());
  return all;
}

std::string PathFor(const std::string& folder, const std::string& key) {
  return fmt::format("{}/gpus-{:016x}.json", folder, XXH3_64bits(key.data(), key.size()));
}

std::string ReadBounded(const std::string& path) {
  std::error_code error;
  const uintmax_t bytes = fs::file_size(path, error);
  if (error || bytes > kLargestFile) return "";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Returns whether the line of facts is still that of the file, whose path may have spaces in it.
bool IsUnchanged(const std::string& facts) {
  size_t end = facts.rfind(' ');
  if (end != facts.npos && end > 0) end = facts.rfind(' ', end - 1);
  return end != facts.npos && FileFacts(facts.substr(0, end)) == facts;
}

}  // namespace

std::string GpuKey(const std::string& program) {
  utsname system{};
  uname(&system);
  std::string key = fmt::format("{}\n{} {}\n", FileFacts(program), system.release, system.machine);
  for (const char* file : kFiles) key += FileFacts(file) + "\n";
  for (const std::string& driver : RegisteredDrivers()) key += FileFacts(driver) + "\n";
  for (const std::string& device : DeviceFiles())
    key += fmt::format("{} {}\n", device, access(device.c_str(), R_OK | W_OK) == 0 ? "opens" : "closed");
  for (const std::string& variable : Variables()) key += variable + "\n";
  return key;
}

std::optional<GpuAnswer> KeptAnswer(const std::string& folder, const std::string& key) {
  if (folder.empty()) return std::nullopt;
  const std::string path = PathFor(folder, key);
  const std::string text = ReadBounded(path);
  if (text.empty()) return std::nullopt;
  try {
    const auto j = ParseJson(text, path);
    if (Object(j, path, "the file").value("key", "") != key) return std::nullopt;
    GpuAnswer answer = GpuAnswerFromJson(j, path);
    if (std::all_of(answer.files.begin(), answer.files.end(), IsUnchanged)) return answer;
  } catch (const Error&) {  // a damaged file is as good as none
  } catch (const nlohmann::ordered_json::exception&) {}
  return std::nullopt;
}

void KeepAnswer(const std::string& folder, const std::string& key, const GpuAnswer& answer) {
  if (folder.empty()) return;
  const std::string path = PathFor(folder, key);
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  auto j = ToJson(answer);
  j["key"] = key;
  const std::string text = JsonText(j, 1) + "\n";
  NewFile file(path);
  if (file.made() && file.Write(std::as_bytes(std::span(text)))) file.RenameTo(path);
}

}  // namespace mete::opencl
