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
  std::string output;   // empty: energy.json in the cache folder
  int frequencies = 8;  // EnergyProfileOptions::frequencies
};

// All of these flags need the flag `energy`.
void AddProfileEnergyFlags(CLI::App& command, CLI::Option* energy, ProfileEnergyFlags& flags);

// Error FAILED_PRECONDITION if there is no meter, UNAVAILABLE if the curves could not be written; in both
// cases nothing has been changed yet. If writing fails after the measurement, the curves go to stdout.
void ProfileEnergy(const ProfileEnergyFlags& flags, const Context& context);

}  // namespace mete::cli
