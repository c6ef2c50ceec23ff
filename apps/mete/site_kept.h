// What is kept of a model, this machine and a server between runs with --site, in the cache folder.
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
  // As `mete profile --starts` has measured them; 0: it has not.
  StartTimes starts() const { return starts_; }
  void Write(const serve::SiteMemory& memory) const;

 private:
  void Adopt(serve::SideMemory& device) const;

  const Context& context_;
  std::string path_;  // empty: nothing is kept
  std::optional<StartCosts> measured_;
  StartTimes starts_ = {};
};

}  // namespace mete::cli
