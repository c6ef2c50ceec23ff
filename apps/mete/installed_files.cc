#include "installed_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/nearest.h"
#include "context.h"
#include "machine/pool_file.h"

namespace mete::cli {

namespace fs = std::filesystem;

namespace {

// Returns the names of the installed files ("raspberry-pi-5") that the flag can take: descriptions of one
// machine, or of several devices.
std::vector<std::string> BoardNames(const fs::path& folder, bool devices) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".toml" && DescribesDevices(entry.path().string()) == devices)
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

fs::path ThisProgram() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error)
    throw Error(Code::kUnavailable,
                fmt::format("[mete] cannot find this program's own file: {}", error.message()));
  return path;
}

fs::path FindInstalled(const std::vector<std::string>& places) {
  std::error_code ignored;
  for (fs::path folder = ThisProgram().parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    for (const std::string& place : places)
      if (fs::exists(folder / place, ignored)) return folder / place;
  return {};
}

std::string FindBoard(const std::string& name, const char* flag) {
  std::error_code ignored;
  if (fs::exists(name, ignored)) return name;
  const fs::path folder = FindInstalled({"share/mete/boards", "boards"});
  if (!folder.empty() && name.find('/') == std::string::npos)
    for (const char* ending : {"", ".toml"})
      if (fs::is_regular_file(folder / (name + ending), ignored)) return (folder / (name + ending)).string();
  const std::string stem = fs::path(name).extension() == ".toml" ? fs::path(name).stem().string() : name;
  const std::vector<std::string> names = folder.empty()
                                             ? std::vector<std::string>()
                                             : BoardNames(folder, std::string_view(flag) == "--processors");
  const std::vector<std::string> near = NearestNames(stem, names);
  throw Error(
      Code::kNotFound,
      fmt::format(
          "[{}] cannot open the file; got '{}', expected a file, or one of those that come with Mete ({}){}",
          flag, name, fmt::join(names, ", "),
          near.empty() ? "" : fmt::format("; try {}", fmt::join(near, " or "))));
}

}  // namespace mete::cli
