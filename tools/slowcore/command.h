// The program that runs while the core is slow.
#pragma once

#include <string>
#include <vector>

#include "tools/slowcore/signals.h"

namespace mete::slowcore {

// Runs a program to its end and returns its exit code, or 128 plus the signal that ended it, as shells do.
// Signals that slowcore receives meanwhile are sent to the program. Throws UsageError if the program cannot
// be started.
int RunCommand(const std::vector<std::string>& words, Signals& signals);

}  // namespace mete::slowcore
