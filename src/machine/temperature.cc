#include "machine/temperature.h"

#include <algorithm>

#include "machine/sysfs.h"

namespace mete {

double ReadCelsius(const std::string& root) {
  constexpr int64_t kMostMilli = 200'000;  // guess: nothing is hotter and still computes
  Sysfs sysfs(root);
  const std::string folder = "sys/class/thermal/";
  int64_t hottest = 0;
  for (const std::string& zone : sysfs.Folder(folder))
    if (zone.starts_with("thermal_zone")) hottest = std::max(hottest, sysfs.Number(folder + zone + "/temp", kMostMilli).value_or(0));
  return double(hottest) * 1e-3;
}

}  // namespace mete
