// How fast clusters compute and what they take for it, by frequency, number of cores and data-reuse rate
// (floating-point operations for each byte that comes from memory): a value, from a machine file or from
// measurements (src/profile/energy).
//
// Between two rates time and joules for a byte are taken as straight lines, which a roofline's are but for
// its corner; below the least rate a byte costs as much as there (memory-bound), above the greatest an
// operation does (compute-bound).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/file.h"

namespace mete {

struct EnergyPoint {
  int64_t khz = 0;  // 0: whatever the clock was, where it is neither set nor told
  int cores = 1;
  double flops_per_byte = 0;
  double gflops = 0;  // of these cores together
  double watts = 0;   // more than without work
};

struct ClusterCurves {
  std::string name;
  std::vector<int> cores;           // CPU numbers, of a core's threads one
  double node_us = 0;               // what a node costs besides, where several cores share it; 0: not known
  std::vector<EnergyPoint> points;  // ascending by frequency, cores, rate
};

struct EnergyCurves {
  std::string machine;
  std::string source;       // "measured with powercap package-0", "from the machine file's ..."
  double idle_watts = 0;    // of the machine without work; not part of the points. 0: not known
  double gbytes_per_s = 0;  // of the memory, for all clusters together; 0: not known
  std::vector<ClusterCurves> clusters;
};

// A data-reuse rate at which nothing waits for memory. No node of a model has as much: a product of 16384 x
// 16384 matrices would.
inline constexpr double kComputeBoundRate = 2048;

// The numbers of cores that are worth a point: 1 to 8, and then in steps of a quarter up to all.
std::vector<int> CoreCounts(int cores);

// Of a cluster's cores the first thread of each.
std::vector<int> FirstThreads(const Cluster& cluster);

// Error with everything that is wrong.
void Verify(const EnergyCurves& curves);

std::string ToJson(const EnergyCurves& curves);
EnergyCurves ParseEnergyCurves(std::string_view json, const std::string& where);  // verified

// A machine file's roofline and power model: arithmetic goes with the clock, the memory does not; a cluster
// that computes takes its idle_w, and each busy core its watts at that clock. At eight frequencies.
EnergyCurves CurvesOf(const MachineFile& file);

}  // namespace mete
