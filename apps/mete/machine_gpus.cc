#include "machine_gpus.h"

#include <fmt/format.h>

#include "base/table.h"
#include "base/units.h"
#include "mete/device.h"
#include "processor/opencl/find/find_gpus.h"
#include "processor/opencl/info/gpu_json.h"
#include "terminal.h"

namespace mete::cli {
namespace {

using opencl::Gpu;

std::string YesOrNo(bool yes) { return yes ? "yes" : "no"; }

std::string Rate(bool computes, double gflops) {
  if (!computes) return "no";
  return gflops > 0 ? fmt::format("yes, {:.4g} GFLOP/s", gflops) : "yes";
}

// Returns how the host reaches the device's memory, the way that costs least first.
std::string SharedMemory(const Gpu& gpu) {
  if (gpu.proved.shares_memory) return "shared without a map";
  if (gpu.proved.maps_in_place) return "shared, mapped without a copy";
  return "of its own: maps copy";
}

std::string Text(const opencl::Times& times) {
  return fmt::format("{:.3g} us, p95 {:.3g} us", times.median_us, times.p95_us);
}

struct Row {
  const char* name;
  std::string (*text)(const Gpu& gpu);
};

const Row kRows[] = {
    {"model", [](const Gpu& g) { return g.facts.model; }},
    {"vendor", [](const Gpu& g) { return g.facts.vendor; }},
    {"driver", [](const Gpu& g) { return fmt::format("{} {}", g.facts.platform, g.facts.driver); }},
    {"type", [](const Gpu& g) { return g.facts.type; }},
    {"compute units",
     [](const Gpu& g) { return fmt::format("{} of {} MHz", g.facts.compute_units, g.facts.clock_mhz); }},
    {"memory",
     [](const Gpu& g) {
       return fmt::format("{}, {} in one buffer", FormatBytes(g.facts.memory_bytes),
                          FormatBytes(g.facts.most_allocation_bytes));
     }},
    {"local memory",
     [](const Gpu& g) {
       return FormatBytes(g.facts.local_bytes) + (g.facts.local_is_separate ? "" : " of the memory");
     }},
    {"work-group", [](const Gpu& g) { return fmt::format("at most {} items", g.facts.most_group_items); }},
    {"f32", [](const Gpu& g) { return Rate(g.proved.computes_f32, g.proved.f32_gflops); }},
    {"f16", [](const Gpu& g) { return Rate(g.proved.computes_f16, g.proved.f16_gflops); }},
    {"f16 in memory", [](const Gpu& g) { return YesOrNo(g.proved.stores_f16); }},
    {"sums of 8-bit products", [](const Gpu& g) { return g.proved.dot8.empty() ? "no" : g.proved.dot8; }},
    {"host's view of memory", SharedMemory},
    {"map of 4 MiB", [](const Gpu& g) { return Text(g.proved.map); }},
    {"map of 4 KiB", [](const Gpu& g) { return Text(g.proved.small_map); }},
    {"launch and wait", [](const Gpu& g) { return Text(g.proved.launch_drained); }},
    {"after a millisecond", [](const Gpu& g) { return Text(g.proved.launch_asleep); }},
    {"launch behind another", [](const Gpu& g) { return Text(g.proved.launch_running); }},
    {"sub-devices", [](const Gpu& g) { return fmt::format("{}", g.facts.most_sub_devices); }},
};

}  // namespace

opencl::GpuList GpusOfThisMachine() {
  return opencl::FindGpus({.cache_folder = CacheFolder(), .failures = opencl::Failures::kTryAgain});
}

void PrintGpus(const opencl::GpuList& list) {
  fmt::print("\nGPUs, as a child process has tried them{}\n", list.gpus.empty() ? ": none" : "");
  if (!list.gpus.empty()) {
    Rows rows{{""}};
    for (const Gpu& gpu : list.gpus) rows[0].push_back(gpu.facts.name);
    for (const Row& row : kRows) {
      rows.push_back({row.name});
      for (const Gpu& gpu : list.gpus) rows.back().push_back(row.text(gpu));
    }
    fmt::print("{}", FormatTable(rows, std::string(rows[0].size(), 'l'), "  "));
  }
  for (const Gpu& gpu : list.gpus)
    for (const std::string& problem : gpu.proved.problems)
      PrintText(fmt::format("  {}, {}", gpu.facts.name, problem));
  for (const std::string& reason : list.left_out) PrintText("  left out: " + reason);
}

void AddGpus(const opencl::GpuList& list, nlohmann::ordered_json& machine) {
  nlohmann::ordered_json j = opencl::ToJson(list);
  machine["gpus"] = std::move(j["gpus"]);
  machine["gpus_left_out"] = std::move(j["left_out"]);
}

}  // namespace mete::cli
