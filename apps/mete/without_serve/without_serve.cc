// Replaces serve/ if METE_SERVE is off: there is no server.
#include "commands.h"

namespace mete::cli {

void AddServe(CLI::App&, Context&) {}

}  // namespace mete::cli
