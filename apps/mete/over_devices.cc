#include "over_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checks.h"
#include "installed_files.h"
#include "machine/devices_file.h"
#include "passes/pass.h"
#include "plan/devices/named.h"
#include "processor/simulated/devices/estimate_pool.h"

namespace mete::cli {

CLI::Option* AddHostsFlags(CLI::App& command, HostsFlags& flags) {
  CLI::Option* file =
      command
          .add_option("--devices", flags.file,
                      "run on the devices of this file together (mete profile MODEL --devices FILE first)")
          ->type_name("FILE.toml")
          ->group("Devices");
  command
      .add_option("--transfer", flags.transfer,
                  "how floats travel between devices; of f16 and u8 the error is reported")
      ->type_name("f32|f16|u8")
      ->check(OneOf({"f32", "f16", "u8"}))
      ->capture_default_str()
      ->needs(file)
      ->group("Devices");
  command
      .add_option("--deadline", flags.deadline_ms,
                  "of a request: late devices are given up in time to compute it here")
      ->type_name("MS")
      ->check(Between(0.001, 1e9))
      ->needs(file)
      ->group("Devices");
  command.add_option("--planner", flags.planner, "who plans: dynamic (ours), or others to compare with")
      ->type_name("NAME")
      ->check(OneOf(DevicePlanners()))
      ->capture_default_str()
      ->needs(file)
      ->group("Devices");
  command
      .add_flag("--keep-plan", flags.keep_plan,
                "use the planner's plan as it is: no trial before, no other plan later where devices are "
                "faster or slower than their costs")
      ->needs(file)
      ->group("Devices");
  // They are of a session of this device alone.
  for (const char* other : {"--explain", "--profile", "--trace", "--plan", "--save-plan"})
    file->excludes(command.get_option(other));
  return file;
}

ModelFlags Divisible(ModelFlags flags) {
  for (const std::string& name : PassesBehindDivision()) flags.disabled_passes.push_back(name);
  return flags;
}

Model LoadDivisible(const ModelFlags& flags, const Context& context, double* load_ms,
                    const std::map<std::string, Shape>& tensors) {
  return LoadModel(Divisible(flags), context, load_ms, tensors);
}

PoolOfFile PoolCostsOf(const Graph& graph, const std::string& name) {
  const std::string path = FindBoard(name, "--devices");
  if (IsHostsFile(path)) {
    const HostsFile file = ReadHostsFile(path);
    const PoolCosts costs = MeasuredCosts(graph, file);
    const bool power = std::any_of(costs.devices.begin(), costs.devices.end(),
                                   [](const DeviceCosts& d) { return d.power.has_value(); });
    return {file.name,
            fmt::format("Times of layers, each by itself, and the links' figures are those that mete profile "
                        "has measured.{}",
                        power ? " Watts are the file's." : ""),
            "", costs};
  }
  const DevicesFile file = ReadDevicesFile(path);
  return {file.name,
          "Nothing here was measured. Estimates: the time of every layer on each device, a roofline of its "
          "machine file's figures; and "
          "the links' figures, as the devices file says.",
          "all times of layers, and the links' figures", EstimatePool(graph, file)};
}

double LargestDifference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double apart = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].type() != b[i].type() || a[i].shape() != b[i].shape()) return INFINITY;
    if (a[i].type() != DType::kF32) continue;
    double difference = 0, largest = 0;
    for (int64_t k = 0; k < a[i].elements(); ++k) {
      difference = std::max(difference, std::abs(double(a[i].as<float>()[k]) - double(b[i].as<float>()[k])));
      largest = std::max(largest, std::abs(double(b[i].as<float>()[k])));
    }
    apart = std::max(apart, largest > 0 ? difference / largest : difference);
  }
  return std::isnan(apart) ? INFINITY : apart;
}

std::string PlanText(const DevicesPlan& plan) {
  std::string text;
  for (const PlannedGroup& group : plan.groups) {
    if (group.first == group.last) continue;  // values move alone
    std::string devices;
    for (const DeviceShare& share : group.shares)
      devices += (devices.empty() ? "" : "+") + plan.devices[size_t(share.device)];
    const bool one = group.last - group.first == 1;
    text += fmt::format("{}{} on {}", text.empty() ? "" : ", ",
                        one ? fmt::format("layer {}", group.last)
                            : fmt::format("layers {} to {}", group.first + 1, group.last),
                        devices);
  }
  return text;
}

}  // namespace mete::cli
