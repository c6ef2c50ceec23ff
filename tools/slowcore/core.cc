#include "tools/slowcore/core.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <cstring>
#include <thread>

#include "apps/mete/context.h"

namespace mete::slowcore {

// A thread that sets its affinity to all cores gets those of its cpuset. This function uses a separate
// thread, so that the affinity of the others does not change.
std::vector<int> CoresAllowed() {
  std::vector<int> cores;
  std::thread([&] {
    cpu_set_t set;
    std::memset(&set, 0xff, sizeof(set));
    pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
    if (pthread_getaffinity_np(pthread_self(), sizeof(set), &set) != 0) return;
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.push_back(core);
  }).join();
  return cores;
}

void PinTo(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core >= 0 && core < CPU_SETSIZE) CPU_SET(core, &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0) return;
  throw cli::UsageError(
      fmt::format("[--core] not a core of this machine, or not for this process; got {}, expected one of {}",
                  core, fmt::join(CoresAllowed(), ", ")));
}

}  // namespace mete::slowcore
