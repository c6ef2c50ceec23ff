// --objective: which cores, at which frequencies, a model is to run on; by energy curves that were measured,
// or those of a machine file.
#pragma once

#include <memory>
#include <string>

#include "costs/energy.h"
#include "machine/frequency.h"
#include "model_flags.h"

namespace mete::cli {

CLI::Option* AddObjectiveOption(CLI::App& command, ModelFlags& flags);  // of simulate
void AddObjectiveFlag(CLI::App& command, ModelFlags& flags);            // of run and bench
// theirs, before anything else; UsageError
void CheckObjective(const ModelFlags& flags, bool devices);
Objective ParseObjectiveFlag(const std::string& text);  // UsageError

// where mete profile --energy leaves them by default; UsageError where there is no cache folder
std::string EnergyCurvesPath();

// ChooseEnergy() that shows how far it is and ends with the command.
EnergyChoice Choose(const EnergyCurves& curves, const ModelWork& work, const Objective& objective,
                    const Context& context, const std::vector<int64_t>& at_khz = {});

// For people, or as JSON.
void PrintEnergyChoice(const EnergyCurves& curves, const ModelWork& work, const EnergyChoice& choice,
                       const ModelFlags& flags, const Context& context);

// What --objective of `flags` asks for, by the stored curves: --cores become the chosen ones; the frequencies
// stay set as long as what is returned lives. nullptr where nothing is asked for, or frequencies cannot be
// set, which a note says. Error where there are no curves, or those of another machine.
std::unique_ptr<FrequencyControl> ApplyObjective(const Model& model, ModelFlags& flags,
                                                 const Context& context);

}  // namespace mete::cli
