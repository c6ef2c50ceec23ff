#include "profile/starts/program_copy.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "profile/starts/file_pages.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

// Returns the libraries by the names with which the linker found them, which end in the names that it looks
// for; the files themselves have longer ones.
std::vector<std::string> LibrariesOfThisProgram() {
  std::vector<std::string> libraries;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        const std::string name = info->dlpi_name;  // empty for the program, no path for the kernel's
        if (name.starts_with('/')) static_cast<std::vector<std::string>*>(into)->push_back(name);
        return 0;
      },
      &libraries);
  return libraries;
}

void Copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error)
    Fail(Code::kUnavailable, to.string(), "cannot copy '{}' here: {}; try another METE_CACHE", from.string(),
         error.message());
}

}  // namespace

ProgramCopy CopyThisProgram(const std::string& folder) {
  std::vector<std::string> libraries = LibrariesOfThisProgram(), files;
  for (const std::string& library : libraries) files.push_back(fs::canonical(library).string());
  const std::array<int, 1> this_process{int(getpid())};
  const std::vector<std::string> shared = MappedByOthers(files, this_process);
  ProgramCopy copy{folder + "/mete", folder, {folder + "/mete"}};
  Copy("/proc/self/exe", copy.program);
  for (size_t i = 0; i < libraries.size(); ++i) {
    if (std::find(shared.begin(), shared.end(), files[i]) != shared.end()) continue;
    copy.files.push_back(folder + "/" + fs::path(libraries[i]).filename().string());
    Copy(files[i], copy.files.back());
  }
  return copy;
}

}  // namespace mete
