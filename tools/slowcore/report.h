// The report of slowcore at its end.
#pragma once

#include "apps/mete/context.h"
#include "tools/slowcore/options.h"
#include "tools/slowcore/session.h"

namespace mete::slowcore {

// Prints the outcome to stdout, or to stderr if stdout belongs to a command. Goals that were not reached are
// in notes.
void PrintOutcome(const Options& options, const Outcome& outcome, const cli::Context& context);

}  // namespace mete::slowcore
