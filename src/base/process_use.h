// What this process uses of its machine.
#pragma once

#include <cstdint>
#include <string>

namespace mete {

struct ProcessUse {
  int64_t resident_bytes = 0, peak_bytes = 0;  // of memory; 0: not known
  double cpu_s = 0;                            // of all threads, in the program and in the kernel
};

// `status` has the form of /proc/self/status; figures that it lacks are 0.
ProcessUse ParseProcessUse(const std::string& status, double cpu_s);

ProcessUse ReadProcessUse();

}  // namespace mete
