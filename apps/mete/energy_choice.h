// The choice of cores and frequencies by energy curves, as `mete simulate --objective` shows it and `run` and
// `bench --objective` make it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costs/energy.h"
#include "model_flags.h"

namespace mete::cli {

Objective ParseObjectiveFlag(const std::string& text);  // parses --objective; UsageError

// Calls ChooseEnergy(), shows its progress, and stops when the command is cancelled.
EnergyChoice Choose(const EnergyCurves& curves, const ModelWork& work, const Objective& objective,
                    const Context& context, const std::vector<int64_t>& at_khz = {});

// Prints a choice for people, or as JSON.
void PrintEnergyChoice(const EnergyCurves& curves, const ModelWork& work, const EnergyChoice& choice,
                       const ModelFlags& flags, const Context& context);

}  // namespace mete::cli
