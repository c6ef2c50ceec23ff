// What the processor beside us is, and what it can do at best.
#pragma once

#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] mete {

struct DeviceInfo {
  std::string cpu;         // the model's name as the system gives it
  std::vector<int> cores;  // CPU numbers that this process may use
  // instruction set of the fast kernels: "avx2", "neon", ... (METE_TARGET changes it)
  std::string target;
  std::vector<std::string> targets;  // all that could be used, best first
};

DeviceInfo ThisDevice();

// f32 GFLOP/s that `threads` threads reach together with independent multiply-adds held in registers
// (a multiply-add counts as 2): the most that any kernel can. Takes tens of milliseconds.
double MeasurePeakGflops(int threads = 1);

// The folder for what is worth keeping from start to start and can always be made again: $METE_CACHE, else
// $XDG_CACHE_HOME/mete, else $HOME/.cache/mete; empty where none of them is set. Nothing is made here:
// whoever writes makes the folder.
std::string CacheFolder();

// What `threads` threads can do at best; 0: not measured.
struct DeviceLimits {
  double gflops = 0;       // as MeasurePeakGflops
  double read_gbytes = 0;  // GB/s that they read together from memory that no cache holds
};
DeviceLimits MeasureLimits(int threads = 1);  // takes some tenths of a second and 64 MiB a thread

}  // namespace mete
