#include "mete/device.h"

#include <functional>
#include <numeric>
#include <thread>

#include "kernels/fast/target/target.h"
#include "machine/machine.h"

namespace mete {

DeviceInfo ThisDevice() {
  const Machine machine = ReadMachine();
  DeviceInfo info{machine.name, {}, ActiveTarget(), AvailableTargets()};
  for (const Cluster& c : machine.clusters)
    info.cores.insert(info.cores.end(), c.cores.begin(), c.cores.end());
  return info;
}

namespace {

// The sum of what all threads get while they run beside each other.
double Together(int threads, const std::function<double()>& measure) {
  std::vector<double> each(size_t(threads < 1 ? 1 : threads));
  std::vector<std::thread> others;
  for (size_t i = 1; i < each.size(); ++i) others.emplace_back([&, i] { each[i] = measure(); });
  each[0] = measure();
  for (std::thread& t : others) t.join();
  return std::accumulate(each.begin(), each.end(), 0.0);
}

}  // namespace

double MeasurePeakGflops(int threads) { return Together(threads, MeasurePeakFlops); }

DeviceLimits MeasureLimits(int threads) {
  return {MeasurePeakGflops(threads), Together(threads, [] { return MeasureReadBandwidth(); })};
}

}  // namespace mete
