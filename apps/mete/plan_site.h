// `mete plan --site` and `mete simulate --site`: where a request is computed, on a device or on a server that
// a file describes. In a build with METE_SERVE=OFF there is no such flag (without_serve/).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "context.h"
#include "mete/engine.h"

namespace mete::cli {

struct SiteFlags {
  std::string site;                  // the site's file; empty: without all of this
  std::string state = "resident";    // of the model on the device
  std::vector<std::string> without;  // parts of what is kept that are missing on the device
  std::string link;                  // a profile instead of the file's link; empty: the file's
  std::string connection;            // warm, idle or cold; empty: the file's
  double deadline_ms = 0;            // of the least energy

  bool given() const { return !site.empty(); }
};

// Adds the flags to a command.
void AddSiteFlags(CLI::App& command, SiteFlags& flags);

// Plans and prints the ways with their steps, the choice and why. `model_name`: as the user named it.
// UsageError for an objective that is none of PoolObjectives().
void PlanTheSite(const Model& model, const std::string& model_name, const std::string& objective,
                 const SiteFlags& flags, const Context& context);

}  // namespace mete::cli
