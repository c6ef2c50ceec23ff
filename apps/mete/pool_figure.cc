#include "pool_figure.h"

#include <fmt/format.h>

#include "terminal.h"

namespace mete::cli {

std::string JoulesText(double joules) {
  return joules >= 1      ? fmt::format("{:.2f} J", joules)
         : joules >= 1e-3 ? fmt::format("{:.2f} mJ", joules * 1e3)
                          : fmt::format("{:.2f} uJ", joules * 1e6);
}

std::string FigureName(const std::string& objective) {
  return objective == "throughput" ? "period" : objective;
}

std::string FigureText(double figure, const std::string& objective) {
  return objective == "energy" ? JoulesText(figure) : FormatMs(figure * 1e-3);
}

}  // namespace mete::cli
