#include "devices_figure.h"

#include <fmt/format.h>

#include "mete/error.h"
#include "terminal.h"

namespace mete::cli {

DevicesObjective ParseDevicesObjectiveFlag(const std::string& text) {
  try {
    return ParseDevicesObjective(text, "--objective");
  } catch (const Error& e) {
    throw UsageError(e.what());
  }
}

std::string JoulesText(double joules) {
  return joules >= 1      ? fmt::format("{:.2f} J", joules)
         : joules >= 1e-3 ? fmt::format("{:.2f} mJ", joules * 1e3)
                          : fmt::format("{:.2f} uJ", joules * 1e6);
}

std::string FigureName(DevicesObjective objective) {
  return objective == DevicesObjective::kThroughput ? "period" : DevicesObjectives()[size_t(objective)];
}

std::string FigureText(double figure, DevicesObjective objective) {
  return objective == DevicesObjective::kEnergy ? JoulesText(figure) : FormatMs(figure * 1e-3);
}

}  // namespace mete::cli
