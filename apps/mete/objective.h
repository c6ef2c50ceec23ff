// --objective: chooses the cores and frequencies on which a model runs, by measured energy curves or by those
// of a machine file.
#pragma once

#include <memory>
#include <string>

#include "model_flags.h"

namespace mete {
class FrequencyControl;  // machine/frequency.h
}

namespace mete::cli {

CLI::Option* AddObjectiveOption(CLI::App& command, ModelFlags& flags);  // for simulate
void AddObjectiveFlag(CLI::App& command, ModelFlags& flags);            // for run and bench
// Checks --objective of run and bench, before any other work; UsageError.
void CheckObjective(const ModelFlags& flags, bool processors);
// UsageError for a name that is not one of PoolObjectives().
void CheckPoolObjective(const std::string& name);

// Adds --deadline-ms of a site, for the least energy.
void AddDeadlineFlag(CLI::App& command, CLI::Option* site, double& deadline_ms);
// UsageError as CheckPoolObjective(), or for a deadline (0: none) of another objective than energy.
void CheckSiteObjective(const std::string& name, double deadline_ms);

// Returns the default path of the curves that mete profile --energy writes. UsageError if there is no cache
// folder.
std::string EnergyCurvesPath();

// Applies --objective of `flags`, by the stored curves: sets --cores to the chosen cores, and sets the
// frequencies, which stay set while the returned object lives. Returns nullptr if the flag is not given, or
// if frequencies cannot be set, which a note says. Error if there are no curves, or those of another machine.
std::shared_ptr<const FrequencyControl> ApplyObjective(const Model& model, ModelFlags& flags,
                                                       const Context& context);

}  // namespace mete::cli
