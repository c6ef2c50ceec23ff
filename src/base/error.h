// Makes errors whose messages have one form: "[where] what; got X, expected Y; try Z".
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "mete/error.h"

namespace mete {

// Throws Error(code, "[where] <formatted>"). `where` names a file, a node or a flag.
template <class... A>
[[noreturn]] void Fail(Code code, const std::string& where, fmt::format_string<A...> format, A&&... args) {
  throw Error(code, "[" + where + "] " + fmt::format(format, std::forward<A>(args)...));
}

// Throws INVALID_ARGUMENT, the common case: a value from a caller or from a file is wrong.
template <class... A>
[[noreturn]] void Invalid(const std::string& where, fmt::format_string<A...> format, A&&... args) {
  throw Error(Code::kInvalidArgument, "[" + where + "] " + fmt::format(format, std::forward<A>(args)...));
}

// Returns `text` with every control character replaced by '?', for messages of one line: names in a file may
// hold line breaks and the control sequences of terminals.
std::string Printable(std::string text);

}  // namespace mete
