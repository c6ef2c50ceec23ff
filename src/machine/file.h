// A hand-written description of a machine: a TOML file (boards/*.toml) with the figures that planning and
// simulation need of a machine that is not present. Mete has measured none of these figures, so every figure
// names its source:
//
//     name = "Toy board"
//     [memory]
//     gib = { value = 4, source = "vendor's data sheet" }
//     gbytes_per_s = { value = 12.8, source = "LPDDR4-1600 on 64 bits: 1600e6 x 8 bytes" }
//     [[cluster]]                                   # one for each kind of core
//     name = "big"
//     core = "Cortex-A72"
//     cores = "4-5"                                 # CPU numbers
//     source = "vendor's data sheet"                # for the type, number and threads of the cores
//     # optional; consecutive CPU numbers are threads of one core
//     threads_per_core = 1
//     # data caches; shared_by is the number of cores, or "all"
//     caches = [{ level = 1, kib = 32, shared_by = 1, source = "..." }]
//     max_mhz = { value = 1800, source = "..." }    # and the other keys of ClusterFigureKeys()
//     [[gpu]]                                       # optional, one for each
//     name = "Mali-T860 MP4"
//     source = "vendor's data sheet"                # for the type
//     compute_units = { value = 4, source = "..." } # and the other keys of GpuFigureKeys()
//
// A figure that the author of the file has estimated has the source "estimate", if possible with the method:
// "estimate: half of the nominal bandwidth".
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

// The figures of a cluster. A figure per core is that of a physical core: the threads of a core share it.
struct ClusterFigures {
  Figure min_mhz, max_mhz;
  // peak of a core by the width of its registers and the number of its units; a multiply-add counts as 2
  Figure f32_flops_per_cycle, int8_ops_per_cycle;
  // the share of this peak that kernels reach: in large matrix products, in depthwise convolutions
  Figure compute_share, depthwise_share;
  Figure gbytes_per_s;            // memory bandwidth of all cores of the cluster together
  Figure dequeue_ns;              // time to take a block from a queue that other threads use too
  Figure barrier_us;              // from the last thread's arrival until all threads have left
  Figure wake_us;                 // until a thread that sleeps in the kernel runs
  Figure idle_w;                  // power of the cluster, awake and without work
  Figure active_w;                // additional power of one core that is busy at max_mhz
  Figure power_exponent;          // active power is proportional to frequency to this power
  std::vector<Figure> cache_kib;  // in the order of Cluster::caches

  double f32_gflops() const { return f32_flops_per_cycle.value * max_mhz.value * 1e-3; }
  double int8_gops() const { return int8_ops_per_cycle.value * max_mhz.value * 1e-3; }
  double active_watts(double mhz) const;  // additional power of one busy core
};

// The numbers that a GPU's products are of; sums are of f32.
enum class GpuType { kF32, kF16 };

// The figures of a GPU that shares the memory of the machine's cores. A figure per cycle is that of one
// compute unit; a multiply-add counts as 2.
struct GpuFigures {
  Figure compute_units, mhz;
  // peak by type; where the hardware has no such arithmetic, that of the type to which it converts
  Figure f32_flops_per_cycle, f16_flops_per_cycle, int8_ops_per_cycle;
  // the share of this peak that kernels reach: in large matrix products, in depthwise convolutions
  Figure compute_share, depthwise_share;
  Figure gbytes_per_s;       // memory bandwidth that kernels reach
  Figure launch_us;          // of a kernel into a queue that has work
  Figure drained_launch_us;  // of the first kernel into a queue that has none
  Figure map_us;             // to give a buffer of any size to the other side
  Figure map_us_per_mib;     // in addition, for its bytes (caches are written back)
  Figure wait_us;            // from the last kernel's end until a thread that looks for it knows
  Figure wake_us;            // in addition, until a thread runs that sleeps meanwhile
  // times as long the machine's cores, or the GPU, take while the other side computes too: both use the
  // memory and the chip's power
  Figure cpu_slowed, gpu_slowed;
  Figure idle_w, active_w;  // power without work, and the additional power while kernels run

  double peak_gflops(const Figure& per_cycle) const {
    return compute_units.value * per_cycle.value * mhz.value * 1e-3;
  }
};

struct DescribedGpu {
  std::string name;
  std::string source;  // of the name
  GpuFigures figures;
};

struct MachineFile {
  // The clusters are sorted fastest first; a capacity is the sustained f32 rate relative to the fastest
  // core's.
  Machine machine;
  std::vector<ClusterFigures> clusters;  // in the order of machine.clusters
  std::vector<std::string> sources;      // source of each cluster's cores, in the same order
  Figure memory_gib, memory_gbytes_per_s;
  std::vector<DescribedGpu> gpus = {};  // in the order of the file
};

// The keys of a table of figures, for reading and for printing.
template <class Figures>
struct FigureKey {
  const char* key;
  Figure Figures::*figure;
  double least, most;  // these bounds are guesses: a value outside of them is taken for a typing error
};
using ClusterFigureKey = FigureKey<ClusterFigures>;
using GpuFigureKey = FigureKey<GpuFigures>;
std::span<const ClusterFigureKey> ClusterFigureKeys();
std::span<const GpuFigureKey> GpuFigureKeys();

// Throws one Error that lists all problems of the file: keys that are missing or unknown, figures without a
// source or outside of their bounds.
MachineFile ReadMachineFile(const std::string& path);
MachineFile ParseMachineFile(std::string_view text, const std::string& path);  // the path is for messages

std::string ToJson(const MachineFile& file);

}  // namespace mete
