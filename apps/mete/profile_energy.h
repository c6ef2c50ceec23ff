// mete profile --energy: measures this machine's energy curves.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "context.h"

namespace mete::cli {

struct ProfileEnergyFlags {
  std::vector<std::string> meters;
  std::string root = "/";
  std::string output;   // empty: in the cache folder
  int frequencies = 8;  // EnergyProfileOptions::frequencies
};

// All of them need `energy`.
void AddProfileEnergyFlags(CLI::App& command, CLI::Option* energy, ProfileEnergyFlags& flags);

// Error FAILED_PRECONDITION where there is no meter to measure with, UNAVAILABLE where the curves could not
// be written; nothing is changed then. Where they cannot be written in the end they go to stdout.
void ProfileEnergy(const ProfileEnergyFlags& flags, const Context& context);

}  // namespace mete::cli
