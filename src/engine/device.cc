#include "mete/device.h"

#include <numeric>
#include <thread>

#include "kernels/fast/target/target.h"
#include "machine/machine.h"

namespace mete {

DeviceInfo ThisDevice() {
  const Machine machine = ReadMachine();
  DeviceInfo info{machine.name, {}, ActiveTarget(), AvailableTargets()};
  for (const Cluster& c : machine.clusters) info.cores.insert(info.cores.end(), c.cores.begin(), c.cores.end());
  return info;
}

double MeasurePeakGflops(int threads) {
  std::vector<double> peaks(size_t(threads < 1 ? 1 : threads));
  std::vector<std::thread> others;
  for (size_t i = 1; i < peaks.size(); ++i) others.emplace_back([&peaks, i] { peaks[i] = MeasurePeakFlops(); });
  peaks[0] = MeasurePeakFlops();
  for (std::thread& t : others) t.join();
  return std::accumulate(peaks.begin(), peaks.end(), 0.0);
}

}  // namespace mete
