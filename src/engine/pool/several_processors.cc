#include "engine/pool/several_processors.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "machine/core_list.h"

namespace mete {
namespace {

using Cores = std::vector<int>;

Cores Ascending(Cores cores) {
  std::sort(cores.begin(), cores.end());
  return cores;
}

// Returns the pool's only processor; nothing if it has several, or another one than a CPU at its own speed.
std::optional<ProcessorEntry> OnlyCpu(const PoolFile& pool) {
  if (pool.devices.size() != 1) return std::nullopt;
  const std::vector<ProcessorEntry>& here = pool.devices[0].processors;
  if (here.empty()) return ProcessorEntry{.name = pool.devices[0].name};
  if (here.size() != 1 || here[0].kind != "cpu" || here[0].speed < 1) return std::nullopt;
  return here[0];
}

// Returns the cores on which the processor computes; none if it computes with fewer threads.
Cores CoresOf(const ProcessorEntry& cpu, const Machine& machine, const SessionOptions& kernels) {
  if (!cpu.cores.empty()) return Ascending(cpu.cores);
  const Cores cores = Ascending(kernels.cores.empty() ? machine.affinity.allowed : kernels.cores);
  const int threads = kernels.threads > 0 ? kernels.threads : machine.default_threads();
  return threads < int(cores.size()) ? Cores() : cores;
}

std::vector<Cores> ByCluster(const Cores& cores, const Machine& machine) {
  std::vector<Cores> parts;
  for (const Cluster& cluster : machine.clusters)
    if (Cores part = Intersection(Ascending(cluster.cores), cores); !part.empty())
      parts.push_back(std::move(part));
  return parts;
}

// Returns the cores by physical core.
std::vector<Cores> PhysicalCores(Cores cores, const Machine& machine) {
  std::vector<Cores> physical;
  while (!cores.empty()) {
    Cores threads{cores[0]};
    if (const Cluster* cluster = machine.ClusterOf(cores[0]))
      for (const Cores& siblings : cluster->siblings)
        if (std::count(siblings.begin(), siblings.end(), cores[0]) > 0)
          threads = Intersection(Ascending(siblings), cores);
    std::erase_if(cores, [&](int core) { return std::count(threads.begin(), threads.end(), core) > 0; });
    physical.push_back(std::move(threads));
  }
  return physical;
}

std::vector<Cores> Halves(const Cores& cores, const Machine& machine) {
  const std::vector<Cores> physical = PhysicalCores(cores, machine);
  if (physical.size() < 2) return {cores};
  std::vector<Cores> halves(2);
  for (size_t i = 0; i < physical.size(); ++i) {
    Cores& half = halves[2 * i < physical.size() ? 0 : 1];
    half.insert(half.end(), physical[i].begin(), physical[i].end());
  }
  return {Ascending(halves[0]), Ascending(halves[1])};
}

}  // namespace

std::optional<PoolFile> AsSeveralProcessors(const PoolFile& pool, const Machine& machine,
                                            const SessionOptions& kernels) {
  const std::optional<ProcessorEntry> cpu = OnlyCpu(pool);
  if (!cpu || !kernels.speeds.empty()) return std::nullopt;
  const Cores cores = CoresOf(*cpu, machine, kernels);
  std::vector<Cores> parts = ByCluster(cores, machine);
  if (parts.size() == 1) parts = Halves(cores, machine);
  if (parts.size() < 2) return std::nullopt;
  PoolFile several{.devices = {{.name = pool.devices[0].name}}};
  for (const Cores& part : parts) {
    const std::string name = "cpu:" + FormatCoreList(part);
    several.name += (several.name.empty() ? "" : ",") + name;
    several.devices[0].processors.push_back({name, part});
  }
  return several;
}

std::optional<PoolFile> AsSeveralProcessors(const PoolFile& pool, const SessionOptions& kernels) {
  return OnlyCpu(pool) ? AsSeveralProcessors(pool, ReadMachine(), kernels) : std::nullopt;
}

std::string TextOfSeveral(const PoolFile& several) {
  const std::vector<std::string> names = NamesOf(several);
  return fmt::format("{} and {} as {} processors", fmt::join(names.begin(), names.end() - 1, ", "),
                     names.back(), names.size() == 2 ? "two" : std::to_string(names.size()));
}

}  // namespace mete
