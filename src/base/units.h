// Figures with their units, for people.
#pragma once

#include <cstdint>
#include <string>

namespace mete {

std::string FormatBytes(int64_t bytes);  // "12.3 MiB"
std::string FormatMs(double ms);         // "12.3 ms", "4.56 s", "78.9 us"

}  // namespace mete
