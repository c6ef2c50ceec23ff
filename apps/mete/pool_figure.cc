#include "pool_figure.h"

#include <fmt/format.h>

#include "mete/error.h"
#include "terminal.h"

namespace mete::cli {

PoolObjective ParsePoolObjectiveFlag(const std::string& text) {
  try {
    return ParsePoolObjective(text, "--objective");
  } catch (const Error& e) {
    throw UsageError(e.what());
  }
}

std::string JoulesText(double joules) {
  return joules >= 1      ? fmt::format("{:.2f} J", joules)
         : joules >= 1e-3 ? fmt::format("{:.2f} mJ", joules * 1e3)
                          : fmt::format("{:.2f} uJ", joules * 1e6);
}

std::string FigureName(PoolObjective objective) {
  return objective == PoolObjective::kThroughput ? "period" : PoolObjectives()[size_t(objective)];
}

std::string FigureText(double figure, PoolObjective objective) {
  return objective == PoolObjective::kEnergy ? JoulesText(figure) : FormatMs(figure * 1e-3);
}

}  // namespace mete::cli
