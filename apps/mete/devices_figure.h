// The figure that a plan for several devices minimizes, in words.
#pragma once

#include <string>

#include "plan/devices/objective.h"

namespace mete::cli {

DevicesObjective ParseDevicesObjectiveFlag(const std::string& text);  // parses --objective; UsageError

std::string JoulesText(double joules);  // "1.20 J", "3.40 mJ"

std::string FigureName(DevicesObjective objective);  // "latency", "period", "energy"
std::string FigureText(double figure, DevicesObjective objective);

}  // namespace mete::cli
