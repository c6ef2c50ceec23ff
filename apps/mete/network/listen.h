// The address at which a program answers callers, and what callers have to prove.
#pragma once

#include <string>

#include "context.h"
#include "network/workers.h"

namespace mete::cli {

// UsageError that names `flag` if the text is not HOST:PORT.
void CheckListen(const std::string& flag, const std::string& listen);

bool IsLoopback(const std::string& listen);

// Returns `security`. UsageError if callers from other hosts have to prove nothing; with `insecure` a note.
Security SecurityFor(const std::string& flag, const std::string& listen, const Security& security,
                     bool insecure, const Context& context);

}  // namespace mete::cli
