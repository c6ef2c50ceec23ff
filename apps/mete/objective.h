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

// Returns the default path of the curves that mete profile --energy writes. UsageError if there is no cache
// folder.
std::string EnergyCurvesPath();

// Applies --objective of `flags`, by the stored curves: sets --cores to the chosen cores, and sets the
// frequencies, which stay set while the returned object lives. Returns nullptr if the flag is not given, or
// if frequencies cannot be set, which a note says. Error if there are no curves, or those of another machine.
std::shared_ptr<const FrequencyControl> ApplyObjective(const Model& model, ModelFlags& flags,
                                                       const Context& context);

}  // namespace mete::cli
