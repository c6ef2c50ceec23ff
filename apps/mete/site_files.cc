#include "site_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "mete/device.h"
#include "base/error.h"
#include "profile/starts/file_pages.h"

namespace mete::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char kWeights[] = "weights", kTimings[] = "tuning", kPrograms[] = "gpu", kPools[] = "pools";
constexpr size_t kMostFiles = 1000;  // guess: more than a model has; the memory takes no longer lists
// Guess: a file system's clock may be behind the system's by a tick.
constexpr std::chrono::seconds kLeastSince{1};

// Returns the files of a folder of the cache, by their paths within the cache, in order.
std::vector<std::string> FilesIn(const std::string& cache, const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(cache) / folder, error), end; !error && at != end;
       at.increment(error))
    if (std::error_code ignored; at->is_regular_file(ignored))
      files.push_back(folder + "/" + at->path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

// Returns the path as the system names mapped files: absolute, without links.
std::string Resolved(const std::string& path) {
  std::error_code error;
  const fs::path resolved =
      path.empty() ? fs::path() : fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : resolved.string();
}

bool IsOf(const std::string& file, const char* folder) { return file.starts_with(std::string(folder) + "/"); }

std::vector<std::string> AtMost(std::vector<std::string> files) {
  if (files.size() > kMostFiles) files.resize(kMostFiles);
  return files;
}

}  // namespace

SiteFiles::SiteFiles(const SiteJob& job, MissingParts parts, PartCosts costs)
    : job_(job), parts_(parts), costs_(costs), cache_(Resolved(CacheFolder())) {}

bool SiteFiles::Keeps(size_t part) const {
  return KeptPart(part) != KeptPart::kWeights || !job_.kernels.packed_cache.empty();
}

MissingParts SiteFiles::NowMeasured(const serve::SideMemory& device) const {
  MissingParts missing = Now(device).missing;
  for (size_t part = 0; part < kKeptParts; ++part)
    if (!device.files[part] && Keeps(part)) missing.reset(part);
  return missing;
}

MissingNow SiteFiles::Now(const serve::SideMemory& device) const {
  MissingNow now;
  const auto miss = [&](size_t part, std::string why) {
    now.missing.set(part);
    now.why[part] = std::move(why);
  };
  for (size_t part = 0; part < kKeptParts; ++part) {
    if (!parts_[part]) continue;
    const auto& files = device.files[part];
    if (!Keeps(part)) {
      miss(part, "--cache-weights would keep them");
      continue;
    }
    if (!files) {
      miss(part, "no session has kept them yet");
      continue;
    }
    const auto gone = std::find_if(files->begin(), files->end(), [&](const std::string& file) {
      std::error_code ignored;
      return !fs::exists(fs::path(cache_) / file, ignored);
    });
    if (gone != files->end()) miss(part, fmt::format("{} is not there", Printable(*gone)));
  }
  return now;
}

void SiteFiles::Begin() {
  if (!job_.kernels.packed_cache.empty()) weights_before_ = FilesIn(cache_, kWeights);
  begin_ = fs::file_time_type::clock::now() - kLeastSince;
}

// Those that this process maps, and those that it has just written.
std::vector<std::string> SiteFiles::WeightsInUse() const {
  const std::vector<std::string> all = FilesIn(cache_, kWeights);
  std::vector<std::string> used;
  std::set_difference(all.begin(), all.end(), weights_before_.begin(), weights_before_.end(),
                      std::back_inserter(used));
  const std::string root = cache_ + "/";
  for (const std::string& path : MappedFiles(int(getpid())))
    if (path.starts_with(root) && IsOf(path.substr(root.size()), kWeights))
      used.push_back(path.substr(root.size()));
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  return used;
}

// A program's file has the time of its last use.
std::vector<std::string> SiteFiles::ProgramsInUse() const {
  std::vector<std::string> used = FilesIn(cache_, kPrograms);
  std::erase_if(used, [&](const std::string& file) {
    std::error_code ignored;
    return fs::last_write_time(fs::path(cache_) / file, ignored) < begin_;
  });
  return used;
}

void SiteFiles::Learn(const Session& session, serve::SideMemory& device) const {
  if (cache_.empty()) return;
  if (!job_.kernels.packed_cache.empty()) device.files[size_t(KeptPart::kWeights)] = AtMost(WeightsInUse());
  if (!session.settled()) return;
  auto& timings = device.files[size_t(KeptPart::kTimings)];
  std::vector<std::string> found = FilesIn(cache_, kTimings);
  for (const std::string& file : timings.value_or(std::vector<std::string>{}))
    if (IsOf(file, kPools)) found.push_back(file);
  timings = AtMost(std::move(found));
  if (parts_[size_t(KeptPart::kPrograms)])
    device.files[size_t(KeptPart::kPrograms)] = AtMost(ProgramsInUse());
}

void SiteFiles::LearnPool(serve::SideMemory& device) const {
  std::vector<std::string> files;
  for (const std::string& path : job_.pool->costs())
    files.push_back(fs::path(Resolved(path)).lexically_relative(cache_).string());
  device.files[size_t(KeptPart::kTimings)] = AtMost(std::move(files));
}

}  // namespace mete::cli
