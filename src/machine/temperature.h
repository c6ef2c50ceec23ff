// Temperatures, and whether the kernel lowers clocks because of heat.
#pragma once

#include <string>

namespace mete {

// Returns the temperature of the hottest thermal zone below `root`; 0 if it is unknown.
double ReadCelsius(const std::string& root = "/");

// Returns the cooling device that lowers clocks at the moment: "cooling_device2 (cpufreq-cpu4) in state 3";
// "" if none does or it is unknown.
std::string WhatCools(const std::string& root = "/");

}  // namespace mete
