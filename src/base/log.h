// Lines for the log of the program that uses the library (mete/log.h).
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "mete/log.h"

namespace mete {

// Whether somebody wants lines of this level; costs one load of an atomic.
bool Logs(LogLevel level);

// Gives "[where] what" to the program's log. Line breaks and control characters are replaced.
void LogLine(LogLevel level, const std::string& where, const std::string& what);

template <class... A>
void Log(LogLevel level, const std::string& where, fmt::format_string<A...> format, A&&... args) {
  if (Logs(level)) LogLine(level, where, fmt::format(format, std::forward<A>(args)...));
}

}  // namespace mete
