#include "output_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "mete/error.h"
#include "mete/io.h"

namespace mete::cli {
namespace fs = std::filesystem;

namespace {

std::string FileName(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '_';
  if (name.empty() || name[0] == '.') name.insert(0, "_");
  return name.substr(0, 200);  // file systems permit 255 bytes; the rest is for the ending
}

}  // namespace

OutputFolder::OutputFolder(const std::string& path) : folder_(path) {
  if (path.empty()) return;
  std::error_code error;
  made_ = fs::create_directories(folder_, error);
  if (!fs::is_directory(folder_, error))
    throw Error(Code::kUnavailable,
                fmt::format("[--output {}] cannot make the folder: {}; try another folder", path,
                            error ? error.message() : "a file of this name is there"));
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  for (const auto& [temporary, name] : files_) fs::remove(temporary, ignored);
  if (made_) fs::remove(folder_, ignored);  // succeeds only if the folder is empty
}

void OutputFolder::Add(const std::string& name, const ConstView& tensor) {
  if (folder_.empty()) return;
  const std::string base = FileName(name);
  fs::path path = folder_ / (base + ".npy");
  auto taken = [&] {
    return std::any_of(files_.begin(), files_.end(), [&](const auto& f) { return f.second == path; });
  };
  for (int i = 1; taken(); ++i) path = folder_ / fmt::format("{}.{}.npy", base, i);
  files_.emplace_back(fmt::format("{}.{}.part", path.string(), getpid()), path);
  WriteNpy(files_.back().first, tensor);
}

std::vector<std::string> OutputFolder::Commit() {
  std::vector<std::string> names;
  for (const auto& [temporary, path] : files_) {
    std::error_code error;
    fs::rename(temporary, path, error);
    if (error)
      throw Error(Code::kUnavailable,
                  fmt::format("[{}] cannot write the file: {}", path.string(), error.message()));
    names.push_back(path.string());
  }
  files_.clear();
  made_ = false;
  return names;
}

}  // namespace mete::cli
