// mete profile --check: how good the predictions are that follow from this machine's profile.
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
};

constexpr double kCheckSeconds = 5;  // of a model on one core; guess: some tens of rounds

void AddProfileCheckFlags(CLI::App& command, ProfileCheckFlags& flags);

// `seconds`: of a model on one core; 0: kCheckSeconds. Error FAILED_PRECONDITION where there is no profile
// that serves.
void CheckPredictions(const ProfileCheckFlags& flags, double seconds, const Context& context);

}  // namespace mete::cli
