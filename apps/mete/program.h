// The frame of a program: parses the command line, runs the command, and turns errors into messages and exit
// codes.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "context.h"

namespace mete::cli {

struct Program {
  const char* name;
  // adds flags and commands; parsing them sets context.command
  std::function<void(CLI::App&, Context&)> build;
};

// Returns the exit code. Every exception is reported on stderr, as JSON if --json is among the arguments.
int RunProgram(const Program& program, Context& context, int argc, char** argv);

}  // namespace mete::cli
