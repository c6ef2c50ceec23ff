// How hot it is: what slows a processor down is often that.
#pragma once

#include <string>

namespace mete {

// Of the hottest thermal zone below `root`; 0: not told.
double ReadCelsius(const std::string& root = "/");

}  // namespace mete
