// The command line of slowcore.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/slowcore/control/pacer.h"
#include "tools/slowcore/control/phases.h"

namespace mete::slowcore {

struct Options {
  int core = -1;
  double speed = 0;
  // This value is a guess: at most a fiftieth of the time of a fast network's layer, at least twenty times
  // that of a thread switch.
  double period_us = 200;
  std::optional<double> seconds;
  std::optional<double> on_off_s;
  double on_share = 0.5;
  uint64_t seed = 1;
  std::optional<std::vector<std::string>> command;  // the words after --

  Pace pace() const { return {speed, int64_t(period_us * 1000)}; }
  std::optional<PhaseSettings> phases() const;
};

void AddOptions(CLI::App& app, Options& options);

// Throws UsageError for options that are out of range or cannot be combined.
void Check(const Options& options);

}  // namespace mete::slowcore
