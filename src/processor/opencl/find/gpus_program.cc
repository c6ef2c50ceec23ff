#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "processor/opencl/find/find_gpus.h"

namespace mete::opencl {

namespace fs = std::filesystem;

namespace {

constexpr const char* kName = "mete-gpus";

// Returns the file, a program or a shared library, that has the code of this function.
fs::path ThisFile() {
  std::error_code ignored;
  Dl_info facts;
  const bool found = dladdr(reinterpret_cast<const void*>(&ThisFile), &facts) != 0 && facts.dli_fname;
  // A program's own name may be relative to a folder that was left since.
  const fs::path name = found ? facts.dli_fname : "";
  return name.is_absolute() ? fs::canonical(name, ignored) : fs::read_symlink("/proc/self/exe", ignored);
}

}  // namespace

std::string GpusProgram() {
  if (const char* own = std::getenv("METE_GPUS_PROGRAM"); own && *own) return own;
  const auto is_program = [](const fs::path& path) { return access(path.c_str(), X_OK) == 0; };
  fs::path folder = ThisFile().parent_path();
  if (is_program(folder / kName)) return (folder / kName).string();
  for (; folder.has_relative_path(); folder = folder.parent_path())
    if (const fs::path path = folder / METE_LIBEXEC / kName; is_program(path)) return path.string();
  return "";
}

}  // namespace mete::opencl
