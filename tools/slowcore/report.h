// What slowcore says in the end.
#pragma once

#include "apps/mete/context.h"
#include "tools/slowcore/options.h"
#include "tools/slowcore/session.h"

namespace mete::slowcore {

// To stdout, or to stderr where stdout is a command's. What was not reached is said in a note.
void PrintOutcome(const Options& options, const Outcome& outcome, const cli::Context& context);

}  // namespace mete::slowcore
