// A machine as somebody wrote it down: a TOML file (boards/*.toml) with what planning and simulation need to
// know of a machine that is not here. Nothing in it was measured by Mete, and so every figure says where it
// comes from:
//
//     name = "Toy board"
//     [memory]
//     gib = { value = 4, source = "vendor's data sheet" }
//     gbytes_per_s = { value = 12.8, source = "LPDDR4-1600 on 64 bits: 1600e6 x 8 bytes" }
//     [[cluster]]                                   # one for each kind of core
//     name = "big"
//     core = "Cortex-A72"
//     cores = "4-5"                                 # CPU numbers
//     source = "vendor's data sheet"                # of the cores' type, number and threads
//     threads_per_core = 1                          # may be left out; neighbouring numbers are threads of
//                                                   one core
//     caches = [{ level = 1, kib = 32, shared_by = 1, source = "..." }]  # data caches; shared_by: cores, or
//     "all"
//     max_mhz = { value = 1800, source = "..." }    # and so on: ClusterFigureKeys()
//
// A figure that is nobody's but the author's has the source "estimate", if possible with how: "estimate: half
// of the nominal bandwidth".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"

namespace mete {

struct Figure {
  double value = 0;
  std::string source;

  bool is_estimate() const { return source.rfind("estimate", 0) == 0; }
};

// Of a cluster. Those of a core are of a physical one: its threads, where it has several, have them together.
struct ClusterFigures {
  Figure min_mhz, max_mhz;
  // the most that the registers' width and the units allow; a multiply-add counts as 2
  Figure f32_flops_per_cycle, int8_ops_per_cycle;
  // how much of that peak kernels reach: large products, depthwise convolutions
  Figure compute_share, depthwise_share;
  Figure gbytes_per_s;            // from memory, all cores of the cluster together
  Figure dequeue_ns;              // to take a block from a queue that others use too
  Figure barrier_us;              // from the last thread's end to all knowing it
  Figure wake_us;                 // until a thread that sleeps in the kernel runs
  Figure idle_w;                  // the cluster, awake and without work
  Figure active_w;                // a core more, busy at max_mhz
  Figure power_exponent;          // active watts go with frequency to this power
  std::vector<Figure> cache_kib;  // in the order of Cluster::caches

  double f32_gflops() const { return f32_flops_per_cycle.value * max_mhz.value * 1e-3; }
  double int8_gops() const { return int8_ops_per_cycle.value * max_mhz.value * 1e-3; }
  double active_watts(double mhz) const;  // of a busy core
};

struct MachineFile {
  // capacities are sustained f32 beside the fastest core's; clusters fastest first
  Machine machine;
  std::vector<ClusterFigures> clusters;  // in the order of the machine's
  std::vector<std::string> sources;      // of the cores, in the same order
  Figure memory_gib, memory_gbytes_per_s;
};

// The keys of a cluster that are figures, for reading and for printing.
struct ClusterFigureKey {
  const char* key;
  Figure ClusterFigures::*figure;
  double least, most;  // guesses: what is beyond is a slip of the pen
};
std::span<const ClusterFigureKey> ClusterFigureKeys();

// Throws Error with all problems of the file at once: what is missing, unknown, without a source, or not
// believed.
MachineFile ReadMachineFile(const std::string& path);
MachineFile ParseMachineFile(std::string_view text, const std::string& path);  // the path is for messages

std::string ToJson(const MachineFile& file);

}  // namespace mete
