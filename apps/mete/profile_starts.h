// mete profile --starts: what a start of a model costs, by what is left of the model on this host.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "context.h"

namespace mete::cli {

struct ProfileStartsFlags {
  std::string model, weights, processors;
  std::vector<std::string> shapes;
  int threads = 0;
  int rounds = 5;  // StartsOptions::rounds
};

// All of these flags need --starts, the option that is returned. `processors` is that of mete profile.
CLI::Option* AddProfileStartsFlags(CLI::App& command, ProfileStartsFlags& flags);

// Errors of the model as in `mete run`; UNAVAILABLE if the costs could not be written, before anything is
// measured.
void ProfileStarts(const ProfileStartsFlags& flags, const Context& context);

}  // namespace mete::cli
