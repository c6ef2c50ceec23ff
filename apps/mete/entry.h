// The command line as one function, which the Python package's library exports to its program.
#pragma once

namespace mete::cli {

// Runs the command that the arguments name, and returns the exit status. It handles interrupts from then on.
[[gnu::visibility("default")]] int RunMete(int argc, char** argv);

}  // namespace mete::cli
