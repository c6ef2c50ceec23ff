#include "profile/starts/stored_starts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/new_file.h"
#include "base/open_problem.h"

namespace mete {
namespace {

std::string Digest(const void* data, size_t bytes) {
  const XXH128_hash_t hash = XXH3_128bits(data, bytes);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// A file's contents by its name, size and time: to read a model would take as long as a start, and would
// bring it into memory.
std::string IdentityOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) FailToOpen(path, errno);
  return fmt::format("{} {} {}.{:09}", std::filesystem::absolute(path).string(), status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

}  // namespace

std::string StartCostsPath(const std::string& cache_folder, const ProfileKey& key,
                           const std::vector<std::string>& model_files,
                           const std::vector<std::string>& settings) {
  if (cache_folder.empty())
    Fail(Code::kFailedPrecondition, "starts",
         "there is no cache folder to keep the costs of starts in; try setting METE_CACHE");
  std::string text = fmt::format("{}\n{}\n{}\n{}\n", key.cpu, key.target, key.version, key.sources);
  for (const std::string& file : model_files) text += IdentityOf(file) + "\n";
  text += fmt::format("{}", fmt::join(settings, "\n"));
  return fmt::format("{}/starts/{}.json", cache_folder, Digest(text.data(), text.size()));
}

std::optional<StartCosts> StoredStartCosts(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) FailToOpen(path, errno);
  std::ostringstream text;
  text << file.rdbuf();
  return StartCostsFromJson(text.str(), path);
}

void StoreStartCosts(const StartCosts& costs, const std::string& path) {
  Verify(costs, path);
  const std::string text = ToJson(costs) + "\n";
  std::error_code ignored;  // writing tells
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  NewFile file(path);
  if (!file.made() || !file.Write(std::as_bytes(std::span(text))) || !file.RenameTo(path))
    Fail(Code::kUnavailable, path, "cannot write the costs of starts: {}; try another METE_CACHE",
         std::strerror(errno));
}

}  // namespace mete
