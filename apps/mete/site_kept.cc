#include "site_kept.h"

#include <fmt/format.h>

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

}  // namespace

KeptSite::KeptSite(const SiteJob& job, const std::string& site, const std::string& address)
    : context_(job.context) {
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
  for (size_t s = 0; s < kStartStates; ++s)
    if (loads[s] && !device.load[s].ms()) device.load[s].Learn(loads[s]->ms);
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
