// The figure that a plan for several processors minimizes, in words.
#pragma once

#include <string>

#include "plan/pool/objective.h"

namespace mete::cli {

PoolObjective ParsePoolObjectiveFlag(const std::string& text);  // parses --objective; UsageError

std::string JoulesText(double joules);  // "1.20 J", "3.40 mJ"

std::string FigureName(PoolObjective objective);  // "latency", "period", "energy"
std::string FigureText(double figure, PoolObjective objective);

}  // namespace mete::cli
