#include "site_kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/new_file.h"
#include "machine/machine.h"
#include "mete/device.h"
#include "processor/cpu/stored_profile.h"
#include "profile/starts/stored_starts.h"
#include "terminal.h"

namespace mete::cli {
namespace {

std::vector<std::string> ThreadWords(const SiteJob& job) {
  if (job.threads == 0) return {};
  return {"--threads", std::to_string(job.threads)};
}

bool HasGpu(const SiteJob& job) {
  if (!job.pool) return false;
  const auto& processors = job.pool->pool.processors();
  return std::any_of(processors.begin(), processors.end(),
                     [](const PoolProcessor& p) { return p.kind == "gpu"; });
}

}  // namespace

KeptSite::KeptSite(const SiteJob& job, const std::string& site, const std::string& address)
    : context_(job.context), has_gpu_(HasGpu(job)) {
  if (CacheFolder().empty()) return;
  const ProfileKey key = KeyOf(ReadMachine());
  std::vector<std::string> words = ThreadWords(job), files = job.model_files;
  if (job.pool) {
    words.insert(words.end(), job.pool->words.begin(), job.pool->words.end());
    files.insert(files.end(), job.pool->files.begin(), job.pool->files.end());
  }
  measured_ = StoredStartCosts(StartCostsPath(CacheFolder(), key, files, words));
  words.push_back("--site");
  device_path_ = StartCostsPath(CacheFolder(), key, files, words);
  words.insert(words.end(), {site, address});
  site_path_ = StartCostsPath(CacheFolder(), key, files, words);
}

StartTimes KeptSite::process_ms() const {
  StartTimes times = {};
  if (!measured_) return times;
  times[size_t(StartState::kKilled)] = measured_->killed.steps.process_ms;
  if (measured_->cold) times[size_t(StartState::kCold)] = measured_->cold->steps.process_ms;
  if (measured_->first) times[size_t(StartState::kFirstEver)] = measured_->first->steps.process_ms;
  return times;
}

void KeptSite::Adopt(serve::SideMemory& device) const {
  if (!measured_) return;
  if (!device.compute.ms()) device.compute.Learn(measured_->resident.ms);
  const Loads loads = LoadsOf(*measured_);
  for (size_t s = 0; s < kStartStates; ++s) {
    const MissingParts missing = StartState(s) == StartState::kFirstEver ? parts() : MissingParts();
    if (loads[s] && !device.load[s][missing.to_ulong()].ms())
      LearnLoad(device, StartState(s), missing, loads[s]->ms);
  }
}

MissingParts KeptSite::parts() const {
  MissingParts parts;
  for (size_t p = 0; p < kKeptParts; ++p)
    parts[p] = measured_ ? part_ms()[p].has_value() : KeptPart(p) != KeptPart::kPrograms || has_gpu_;
  return parts;
}

serve::SiteMemory KeptSite::ReadAt(const std::string& path) const {
  if (std::error_code ignored; path.empty() || !std::filesystem::exists(path, ignored)) return {};
  try {
    const auto file = MappedFile::Open(path);
    return serve::SiteMemoryFromJson(
        {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, path);
  } catch (const Error& error) {
    PrintNote(context_, fmt::format("what is kept of the site is left out: {}", error.what()));
    return {};
  }
}

serve::SiteMemory KeptSite::Read() const {
  serve::SiteMemory memory = ReadAt(site_path_);
  const serve::SiteMemory device = ReadAt(device_path_);
  memory.device = device.device;
  memory.scaled_bytes = device.scaled_bytes;
  Adopt(memory.device);
  return memory;
}

void KeptSite::Write(const serve::SiteMemory& memory) const {
  if (site_path_.empty()) return;
  std::error_code ignored;  // the file tells
  std::filesystem::create_directories(std::filesystem::path(site_path_).parent_path(), ignored);
  const auto write = [&](const std::string& path, const std::string& text) {
    NewFile file(path);
    if (!file.made() || !file.Write(std::as_bytes(std::span(text))) || !file.RenameTo(path))
      PrintNote(context_, fmt::format("[{}] cannot be written, so that the next run measures again", path));
  };
  serve::SiteMemory device, site = memory;
  std::swap(device.device, site.device);
  device.scaled_bytes = memory.scaled_bytes;
  write(device_path_, ToJson(device));
  write(site_path_, ToJson(site));
}

}  // namespace mete::cli
