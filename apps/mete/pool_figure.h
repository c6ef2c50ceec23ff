// The figure that a plan for several processors minimizes, in words. Objectives are names of PoolObjectives()
// (mete/pool.h).
#pragma once

#include <string>

namespace mete::cli {

std::string JoulesText(double joules);  // "1.20 J", "3.40 mJ"

std::string FigureName(const std::string& objective);  // "latency", "period", "energy"
std::string FigureText(double figure, const std::string& objective);

}  // namespace mete::cli
