// The processor of this machine and the best speed that it can reach.
#pragma once

#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] mete {

struct DeviceInfo {
  std::string cpu;         // name of the processor as the system gives it
  std::vector<int> cores;  // CPU numbers that this process may use
  // instruction set of the fast kernels: "avx2", "neon", ... (METE_TARGET changes it)
  std::string target;
  std::vector<std::string> targets;  // all instruction sets that can be used, best first
};

DeviceInfo ThisDevice();

// Returns the f32 GFLOP/s that `threads` threads reach together with independent multiply-adds in registers
// (a multiply-add counts as 2). No kernel can be faster. The measurement takes tens of milliseconds.
double MeasurePeakGflops(int threads = 1);

// Returns the folder for files that save time at the next start and can always be made again: $METE_CACHE,
// else $XDG_CACHE_HOME/mete, else $HOME/.cache/mete; empty if none of these variables is set. The function
// does not create the folder: the code that writes a file does.
std::string CacheFolder();

// The best speed that `threads` threads can reach together; 0: not measured.
struct DeviceLimits {
  double gflops = 0;       // the result of MeasurePeakGflops()
  double read_gbytes = 0;  // GB/s that the threads read together from memory that no cache holds
};
DeviceLimits MeasureLimits(int threads = 1);  // takes some tenths of a second and 64 MiB per thread

}  // namespace mete
