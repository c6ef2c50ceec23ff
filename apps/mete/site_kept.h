// What is kept of a model, this machine, the pool on which it computes, and a server between runs with
// --site, in the cache folder.
#pragma once

#include <string>

#include "context.h"
#include "plan/site/site_costs.h"
#include "serve/site/memory.h"
#include "site_run.h"

namespace mete::cli {

class KeptSite {
 public:
  // `site`: its name. A site is a network as well as a server, whose figures are others over another network.
  KeptSite(const SiteJob& job, const std::string& site, const std::string& address);

  // The device's loads are those of `mete profile --starts`, where they were not seen in use.
  serve::SiteMemory Read() const;
  // By state, as `mete profile --starts` has measured them; 0: it has not. The first is a part of the second.
  StartTimes process_ms() const;
  StartTimes start_ms() const { return measured_ ? StartsOf(*measured_) : StartTimes{}; }
  // Which parts of what is kept a start has at all, as far as it is known.
  MissingParts parts() const;
  PartCosts part_ms() const { return measured_ ? PartCostsOf(*measured_) : PartCosts{}; }
  void Write(const serve::SiteMemory& memory) const;

 private:
  void Adopt(serve::SideMemory& device) const;
  serve::SiteMemory ReadAt(const std::string& path) const;

  const Context& context_;
  const bool has_gpu_;
  // What is known of the device is the same on each site. Empty: nothing is kept.
  std::string device_path_, site_path_;
  std::optional<StartCosts> measured_;
};

}  // namespace mete::cli
