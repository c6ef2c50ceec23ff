#include "costs/pool.h"

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/problems.h"

namespace mete {
namespace {

bool IsTime(double us) { return std::isfinite(us) && us >= 0; }

void CheckPower(const DeviceCosts& device, Problems& problems) {
  const PowerCosts power = device.power.value_or(PowerCosts{});
  problems.Try([&] {
    for (const double x :
         {power.idle_w, power.compute_w, power.sent_joules_per_byte, power.received_joules_per_byte})
      if (!std::isfinite(x) || x < 0)
        Invalid(device.name, "takes no such power; got {} W or joules a byte, expected 0 or more", x);
  });
}

void CheckLink(const DeviceCosts& device, Problems& problems) {
  const LinkCosts& link = device.link;
  problems.Try([&] {
    if (!IsTime(link.latency_us) || !IsTime(link.message_us))
      Invalid(device.name, "a link takes no such time; got {} and {} us, expected 0 or more", link.latency_us,
              link.message_us);
  });
  problems.Try([&] {
    for (const double rate : {link.up_mbit_per_s, link.down_mbit_per_s})
      if (!std::isfinite(rate) || rate <= 0)
        Invalid(device.name, "a link has no such rate; got {} Mbit/s, expected more than 0", rate);
  });
}

void CheckLayers(const DeviceCosts& device, size_t layers, Problems& problems) {
  problems.Try([&] {
    if (!IsTime(device.share_us))
      Invalid(device.name, "a share takes no such time; got {} us, expected 0 or more", device.share_us);
  });
  problems.Try([&] {
    if (device.layers.size() != layers)
      Invalid(device.name, "has other layers; got {}, expected {}", device.layers.size(), layers);
    for (size_t i = 0; i < layers; ++i)
      if (const LayerCost& cost = device.layers[i];
          !IsTime(cost.us) || !IsTime(cost.least_us) || cost.least_us > cost.us)
        Invalid(device.name, "layer {} takes no such time; got {} us, at least {}", i, cost.us,
                cost.least_us);
  });
}

}  // namespace

std::vector<std::string> NamesOf(const PoolCosts& costs) {
  std::vector<std::string> names;
  for (const DeviceCosts& device : costs.devices) names.push_back(device.name);
  return names;
}

void Verify(const PoolCosts& costs, size_t layers) {
  Problems problems;
  if (costs.devices.empty()) Invalid("devices", "there are none; expected one or more");
  std::set<std::string> names;
  for (const DeviceCosts& device : costs.devices) {
    problems.Try([&] {
      if (!names.insert(device.name).second) Invalid(device.name, "two devices have this name");
    });
    CheckLink(device, problems);
    CheckLayers(device, layers, problems);
    CheckPower(device, problems);
  }
  problems.ThrowIfAny();
}

}  // namespace mete
