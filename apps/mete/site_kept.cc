#include "site_kept.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>

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
  std::vector<std::string> words = ThreadWords(job);
  measured_ = StoredStartCosts(StartCostsPath(CacheFolder(), key, job.model_files, words));
  if (measured_) starts_ = StartsOf(*measured_);
  words.insert(words.end(), {"--site", site, address});
  path_ = StartCostsPath(CacheFolder(), key, job.model_files, words);
}

void KeptSite::Adopt(serve::SideMemory& device) const {
  if (!measured_) return;
  if (!device.compute.ms()) device.compute.Learn(measured_->resident.ms);
  const Loads loads = LoadsOf(*measured_);
  for (size_t s = 0; s < kStartStates; ++s)
    if (loads[s] && !device.load[s].ms()) device.load[s].Learn(loads[s]->ms);
}

serve::SiteMemory KeptSite::Read() const {
  serve::SiteMemory memory;
  if (std::error_code ignored; !path_.empty() && std::filesystem::exists(path_, ignored)) {
    try {
      const auto file = MappedFile::Open(path_);
      memory = serve::SiteMemoryFromJson(
          {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, path_);
    } catch (const Error& error) {
      PrintNote(context_, fmt::format("what is kept of the site is left out: {}", error.what()));
    }
  }
  Adopt(memory.device);
  return memory;
}

void KeptSite::Write(const serve::SiteMemory& memory) const {
  if (path_.empty()) return;
  std::error_code ignored;  // the file tells
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  NewFile file(path_);
  const std::string text = ToJson(memory);
  if (!file.made() || !file.Write(std::as_bytes(std::span(text))) || !file.RenameTo(path_))
    PrintNote(context_, fmt::format("[{}] cannot be written, so that the next run measures again", path_));
}

}  // namespace mete::cli
