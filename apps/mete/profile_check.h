// mete profile --check: how good the predictions from this machine's profile are.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "context.h"
#include "model_flags.h"

namespace mete::cli {

struct ProfileCheckFlags {
  std::vector<std::string> models;
  ModelFlags load;        // the cores to check
  bool in_turns = false;  // CheckOptions::in_turns
  bool nodes = false;
  int probes = 0;  // CheckOptions::probes
};

constexpr double kCheckSeconds = 5;  // seconds for a model on one core; guess: enough for some tens of rounds

void AddProfileCheckFlags(CLI::App& command, ProfileCheckFlags& flags);

// `seconds`: for a model on one core; 0: kCheckSeconds. Error FAILED_PRECONDITION if there is no usable
// profile.
void CheckPredictions(const ProfileCheckFlags& flags, double seconds, const Context& context);

}  // namespace mete::cli
