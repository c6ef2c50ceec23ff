// A program that runs while the core is slow.
#pragma once

#include <string>
#include <vector>

#include "tools/slowcore/signals.h"

namespace mete::slowcore {

// Runs it to its end and returns its exit code, or 128 and the signal that ended it, as shells do. Signals
// that reach us meanwhile are passed on to it. Throws UsageError where it cannot be started.
int RunCommand(const std::vector<std::string>& words, Signals& signals);

}  // namespace mete::slowcore
