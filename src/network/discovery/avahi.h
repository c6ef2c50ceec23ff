// What the two of Avahi's programs that we run have in common.
#pragma once

#include <string>

#include "network/discovery/child.h"

namespace mete {

std::string AvahiProgram(const std::string& name);  // Error UNAVAILABLE with what to install

// Error UNAVAILABLE for a program that has ended without doing its work, with the last line that it wrote.
[[noreturn]] void FailOfAvahi(const std::string& path, const std::string& said);

bool IsPrintable(const std::string& text);    // ASCII without control characters
bool IsServiceName(const std::string& text);  // 1 to 63 of these, as DNS-SD permits

}  // namespace mete
