// Helpers shared by the callers of Avahi's two programs, avahi-browse and avahi-publish-service.
#pragma once

#include <string>

#include "base/child.h"

namespace mete {

std::string AvahiProgram(const std::string& name);  // Error UNAVAILABLE that says what to install

// Error UNAVAILABLE for the program at `path`, which has ended without doing its work. The message has the
// last line of its output `said`.
[[noreturn]] void FailOfAvahi(const std::string& path, const std::string& said);

bool IsPrintable(const std::string& text);    // ASCII without control characters
bool IsServiceName(const std::string& text);  // 1 to 63 printable characters, as DNS-SD permits

}  // namespace mete
