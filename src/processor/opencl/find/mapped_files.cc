#include "processor/opencl/find/mapped_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace mete::opencl {

std::string FileFacts(const std::string& path) {
  struct stat facts;
  if (stat(path.c_str(), &facts) != 0) return path + " missing";
  return fmt::format("{} {} {}.{:09}", path, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

std::vector<std::string> EntriesOf(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder, ignored), end; !ignored && at != end;
       at.increment(ignored))
    paths.push_back(at->path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> RegisteredDrivers() {
  std::string folder = "/etc/OpenCL/vendors";
  for (const char* name : {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"})  // the first one counts (ocl-icd)
    if (const char* value = std::getenv(name); value && *value) {
      folder = value;
      break;
    }
  std::vector<std::string> drivers = EntriesOf(folder);
  std::erase_if(drivers, [](const std::string& path) { return !path.ends_with(".icd"); });
  return drivers;
}

std::vector<std::string> LoadedFiles() {
  // A line is "7f...-7f... r-xp 00000000 fe:00 1234    /usr/lib/libOpenCL.so.1" (proc_pid_maps(5)).
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> files;
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    const bool is_code = line.find(" r-xp ") != line.npos;
    if (is_code && path != line.npos && !line.ends_with(" (deleted)")) files.insert(line.substr(path));
  }
  return {files.begin(), files.end()};
}

}  // namespace mete::opencl
