#include "processor/cpu/stored_profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "processor/cpu/environment.h"
#include "kernels/fast/target/features.h"
#include "processor/cpu/prepare/sources_digest.h"

namespace mete {

namespace fs = std::filesystem;

ProfileKey KeyOf(const Machine& machine) {
  ReferenceFromEnvironment();  // which may name another instruction set than the best one
  return {machine.name, ActiveInstructions(), METE_VERSION, kSourcesDigest};
}

std::unique_ptr<Profile> LoadProfile(const std::string& folder, const Machine& machine, std::string* why) {
  why->clear();
  const ProfileKey key = KeyOf(machine);
  const std::string path = ProfileFile(folder, key);
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return nullptr;
  constexpr uintmax_t kLargestFile = 16 << 20;
  const uintmax_t bytes = fs::file_size(path, error);
  if (error || bytes > kLargestFile) {
    *why = fmt::format("[{}] the profile cannot be read; try \"mete profile\"", path);
    return nullptr;
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  try {
    auto profile = std::make_unique<Profile>(ProfileFromJson(text.str(), path));
    *why = WhyNot(*profile, key, machine);
    if (why->empty()) return profile;
    *why =
        fmt::format("[{}] the profile does not serve: {}; try \"mete profile\" to measure again", path, *why);
  } catch (const Error& e) {
    *why = e.what();
  }
  return nullptr;
}

std::string FileToKeep(const std::string& folder, const ProfileKey& key) {
  const std::string path = ProfileFile(folder, key);
  if (path.empty())
    Fail(Code::kUnavailable, "profile", "there is no folder to keep it in; try to set METE_CACHE or HOME");
  std::error_code ignored;  // who writes the file tells
  fs::create_directories(fs::path(path).parent_path(), ignored);
  return path;
}

std::string SaveProfile(const std::string& folder, const Profile& profile) {
  const std::string path = FileToKeep(folder, profile.key),
                    temporary = fmt::format("{}.{}.part", path, getpid());
  std::error_code error;
  std::ofstream file(temporary);
  file << ToJson(profile);
  file.close();
  if (file) fs::rename(temporary, path, error);
  if (file && !error) return path;
  fs::remove(temporary, error);
  Fail(Code::kUnavailable, path, "cannot write the profile; try another folder in METE_CACHE");
}

}  // namespace mete
