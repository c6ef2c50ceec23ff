// Replaces report/ if METE_REPORT is off: there are no pages.
#include "commands.h"

namespace mete::cli {

void AddReport(CLI::App&, Context&) {}

}  // namespace mete::cli
