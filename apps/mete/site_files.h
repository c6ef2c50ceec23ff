// What earlier sessions of a model have kept that a start of `mete run --site` would find now: whether the
// files are there that the last session has used or made. Of timings all files of the cache count, since a
// session does not tell which it has read: one that is deleted counts as missing for each model.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plan/site/kept_parts.h"
#include "serve/site/memory.h"
#include "site_run.h"

namespace mete::cli {

struct MissingNow {
  MissingParts missing = {};
  std::array<std::string, kKeptParts> why = {};
};

class SiteFiles {
 public:
  // `parts`: those that a start of the model has at all. `costs`: what each adds, where it was measured.
  SiteFiles(const SiteJob& job, MissingParts parts, PartCosts costs);

  MissingNow Now(const serve::SideMemory& device) const;
  // The same once the model was measured on its pool, by a session of which no files were seen.
  MissingParts NowMeasured(const serve::SideMemory& device) const;
  const PartCosts& costs() const { return costs_; }
  MissingParts parts() const { return parts_; }
  // The load from the state killed, as it would be now; nothing: none was seen.
  std::optional<LoadNow> LoadNowOf(const serve::SideMemory& device) const {
    return LoadOf(device, StartState::kKilled, Now(device).missing, costs_);
  }

  // To be called before a session is made.
  void Begin();
  // To be called after a session was made, and again once it has settled.
  void Learn(const Session& session, serve::SideMemory& device) const;
  // After the model was measured on its pool.
  void LearnPool(serve::SideMemory& device) const;

 private:
  bool Keeps(size_t part) const;  // whether sessions keep such a part at all
  std::vector<std::string> WeightsInUse() const;
  std::vector<std::string> ProgramsInUse() const;

  const SiteJob& job_;
  const MissingParts parts_;
  const PartCosts costs_;
  const std::string cache_;
  std::vector<std::string> weights_before_;
  std::filesystem::file_time_type begin_ = {};
};

}  // namespace mete::cli
