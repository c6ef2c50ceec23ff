// What every command gets: the form of its answer, and the token by which it is stopped. Results go to
// stdout, everything else to stderr.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "mete/engine.h"

namespace mete::cli {

using Json = nlohmann::ordered_json;

enum ExitCode : int { kOk = 0, kFailure = 1, kUsage = 2, kBadFile = 3, kUnsupported = 4, kCancelled = 5 };

struct ExitCodeRow {
  ExitCode code;
  const char* meaning;
};
inline constexpr ExitCodeRow kExitCodes[] = {
    {kOk, "success"},
    {kFailure, "failure at run time: no memory, a file that cannot be written"},
    {kUsage,
     "usage, which the command line alone can mend: an unknown command, flag, input or network, a bad value, "
     "a missing argument"},
    {kBadFile, "a file to read (model, image, input, plan, ...) that is missing, damaged or does not fit"},
    {kUnsupported, "the model needs something that Mete does not support"},
    {kCancelled, "cancelled by an interrupt (Ctrl-C; a second one kills)"},
};

struct EnvironmentRow {
  const char* name;
  const char* meaning;
};
inline constexpr EnvironmentRow kEnvironment[] = {
    {"METE_TARGET", "instruction set of the fast kernels instead of the best one, e.g. avx2 or scalar"},
    {"METE_WITHOUT", "features of the processor that the fast kernels do without, e.g. avx512vnni,avxvnni"},
    {"METE_CONV",
     "how convolutions are computed where it fits: direct, winograd_f2, winograd_f4, winograd_f6, or auto"},
    {"METE_CACHE",
     "the folder for timings of kernels and packed weights, instead of mete in $XDG_CACHE_HOME or ~/.cache"},
    {"METE_PROBES", "--probes of 'mete profile' where that is not given"},
    {"NO_COLOR", "set: never colour the output"},
};

// An error in the command line that the parser cannot see, only the command itself.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

ExitCode ExitCodeOf(Code code);

struct Context {
  const char* program = "mete";
  bool json = false;
  const CancelToken* cancel = nullptr;
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  std::function<void()> command;  // the command of the command line, set by the parser
  // Gets notes instead of stderr, from any thread; empty: they are printed.
  std::function<void(const std::string&)> note = {};
};

// Error CANCELLED if the user has interrupted. Commands call this function between two runs.
void CheckCancelled(const Context& context);

}  // namespace mete::cli
