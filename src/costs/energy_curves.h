// The speed and the power of clusters by frequency, number of cores and data-reuse rate (floating-point
// operations per byte from memory), as a value from a machine file or from measurements (src/profile/energy).
//
// Between two rates, time and joules per byte are interpolated linearly, which is exact for a roofline except
// at its corner. Below the lowest rate a byte costs as much as at that rate (memory-bound); above the highest
// rate an operation costs as much as at that rate (compute-bound).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/file.h"

namespace mete {

struct EnergyPoint {
  int64_t khz = 0;  // 0: the clock was neither set nor known
  int cores = 1;
  double flops_per_byte = 0;
  double gflops = 0;  // all these cores together
  double watts = 0;   // in addition to the power without work
};

struct ClusterCurves {
  std::string name;
  std::vector<int> cores;           // CPU numbers, one thread per core
  double node_us = 0;               // additional time of a node that several cores share; 0: unknown
  std::vector<EnergyPoint> points;  // ascending by frequency, then cores, then rate
};

struct EnergyCurves {
  std::string machine;
  std::string source;       // "measured with powercap package-0", "from the machine file's ..."
  double idle_watts = 0;    // power of the machine without work, not part of the points; 0: unknown
  double gbytes_per_s = 0;  // bandwidth of the memory for all clusters together; 0: unknown
  std::vector<ClusterCurves> clusters;
};

// A data-reuse rate at which no core waits for memory. No node of a model has such a rate; a product of 16384
// x 16384 matrices would have it.
inline constexpr double kComputeBoundRate = 2048;

// Returns the numbers of cores for which a curve has points: 1 to 8, then growing by a quarter, up to
// `cores`.
std::vector<int> CoreCounts(int cores);

// Returns the first thread of each physical core of a cluster.
std::vector<int> FirstThreads(const Cluster& cluster);

// Throws one Error that lists everything that is wrong.
void Verify(const EnergyCurves& curves);

std::string ToJson(const EnergyCurves& curves);
EnergyCurves ParseEnergyCurves(std::string_view json, const std::string& where);  // verified

// Returns the curves of a machine file's roofline and power model at eight frequencies. The speed of
// arithmetic is proportional to the clock, the memory's speed does not depend on it. A cluster that computes
// takes its idle_w and the watts of each busy core at this clock.
EnergyCurves CurvesOf(const MachineFile& file);

}  // namespace mete
