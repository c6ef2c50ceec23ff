// How hot it is: what slows a processor down is often that.
#pragma once

#include <string>

namespace mete {

// Of the hottest thermal zone below `root`; 0: not told.
double ReadCelsius(const std::string& root = "/");

// What holds clocks down just now, because of heat: "cooling_device2 (cpufreq-cpu4) in state 3"; "" where
// nothing does, or nothing is told.
std::string WhatCools(const std::string& root = "/");

}  // namespace mete
