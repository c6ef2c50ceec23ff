// The frame of a program: parse, do what was asked for, turn errors into messages and exit codes.
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

// The exit code. Everything that is thrown on the way is reported on stderr, as JSON where --json is among
// the arguments.
int RunProgram(const Program& program, Context& context, int argc, char** argv);

}  // namespace mete::cli
