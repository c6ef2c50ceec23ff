// What the library tells while it works, for the log of a program. By default it tells nothing.
//
//   #include <cstdio>
//   #include "mete/log.h"
//
//   mete::SetLog([](mete::LogLevel level, std::string_view line) {
//     std::fprintf(stderr, "%s: %.*s\n", mete::Name(level), int(line.size()), line.data());
//   });
#pragma once

#include <functional>
#include <string_view>

namespace [[gnu::visibility("default")]] mete {

// kDebug: what was done, with times. kInfo: what the library assumes, as Model::notes() has it, and what a
// session on a pool does, as Session::Notes() has it. kWarning: what differs from what was asked for, as the
// Notes() of a session on one CPU have it. Errors are thrown and not told here.
enum class LogLevel { kDebug, kInfo, kWarning };

const char* Name(LogLevel level);  // "debug", "info", "warning"

// Gives all later lines of this level or above to `log`; an empty function: to nobody. A line is a whole
// sentence without a line break, of the form "[where] what", and valid during the call alone. Threads of the
// library may call `log` at the same time, also once more for a line that was begun before this function
// returned. `log` may call the library. What it throws is dropped.
void SetLog(std::function<void(LogLevel level, std::string_view line)> log, LogLevel least = LogLevel::kInfo);

}  // namespace mete
