// mete machine: describes the hardware of this machine, of a recorded tree, or of a machine file.
#include "machine/machine.h"

#include <fmt/format.h>

#include <memory>

#include "checks.h"
#include "commands.h"
#include "installed_files.h"
#include "left_frequencies.h"
#include "machine/core_list.h"
#include "machine/file.h"
#include "machine_gpus.h"
#include "model_flags.h"
#include "terminal.h"

namespace mete::cli {
namespace {

struct MachineFlags {
  std::string file;
  std::string root = "/";
  bool sources = false;
};

std::string Known(const std::string& text) { return text.empty() ? "-" : text; }
std::string Cores(const std::vector<int>& cores) { return Known(FormatCoreList(cores)); }
std::string Mhz(int64_t khz) { return khz > 0 ? fmt::format("{:.0f}", double(khz) * 1e-3) : "-"; }

std::string Groups(const std::vector<std::vector<int>>& groups) {
  std::vector<std::string> lists;
  for (const std::vector<int>& g : groups) lists.push_back(FormatCoreList(g));
  return Known(fmt::format("{}", fmt::join(lists, " ")));
}

void PrintTable(const char* title, const Rows& rows, const std::string& align) {
  if (rows.size() > 1) fmt::print("\n{}\n{}", title, FormatTable(rows, align, "  "));
}

void PrintHead(const Machine& machine) {
  const Style style = StyleOf(1);
  const size_t n = machine.clusters.size();
  const std::string memory = machine.memory_bytes > 0 ? FormatBytes(machine.memory_bytes) : "an unknown size";
  PrintText(fmt::format("{}{}{}: {} core{} in {} cluster{}, {} of memory", style.bold, machine.name,
                        style.reset, machine.cores(), machine.cores() == 1 ? "" : "s", n, n == 1 ? "" : "s",
                        memory));
}

void PrintClusters(const Machine& machine) {
  Rows clusters{{"cluster", "cores", "type", "capacity", "by", "threads of a core"}};
  Rows caches{{"cluster", "cache", "size", "shared by cores"}};
  for (const Cluster& c : machine.clusters) {
    clusters.push_back({c.name, Cores(c.cores), Known(c.core), fmt::format("{:.3f}", c.capacity),
                        Name(c.capacity_source), Groups(c.siblings)});
    for (const Cache& cache : c.caches)
      caches.push_back({c.name, fmt::format("L{}", cache.level),
                        cache.bytes > 0 ? FormatBytes(cache.bytes) : "-", Groups(cache.shared)});
  }
  PrintTable("clusters, the fastest first", clusters, "lllrll");
  PrintTable("data caches", caches, "llrl");
}

void PrintFrequencies(const Machine& machine) {
  Rows rows{{"cluster", "least", "most", "limit", "now", "governor", "policy"}};
  for (const Cluster& c : machine.clusters) {
    const Frequency& f = c.frequency;
    if (f.max_khz > 0)
      rows.push_back({c.name, Mhz(f.min_khz), Mhz(f.max_khz), Mhz(f.limit_khz), Mhz(f.current_khz),
                      Known(f.governor), Known(fmt::format("{}", fmt::join(f.policies, " ")))});
  }
  PrintTable("frequencies, MHz", rows, "lrrrrll");
}

void PrintAccess(const Machine& machine) {
  const Affinity& a = machine.affinity;
  Rows affinity{{"", "cores"},
                {"online", Cores(a.online)},
                {"process's mask", Cores(a.affinity)},
                {"cpuset", Cores(a.cpuset)},
                {"allowed", Cores(a.allowed)}};
  if (a.quota_cores > 0)
    affinity.push_back(
        {"cgroup's quota", fmt::format("time of {:.2f} cores: {} threads unless told otherwise",
                                       a.quota_cores, machine.default_threads())});
  PrintTable("what threads can be bound to", affinity, "lw");
  Rows meters{{"kind", "name", "readable", "file"}};
  for (const Meter& m : machine.meters)
    meters.push_back({Name(m.kind), m.name, m.readable ? "yes" : "no", m.path});
  PrintTable("energy meters", meters, "lllw");
}

void PrintMachine(const Machine& machine) {
  PrintHead(machine);
  PrintClusters(machine);
  PrintFrequencies(machine);
  PrintAccess(machine);
}

void PrintNotes(const Machine& machine) {
  if (machine.notes.empty()) return;
  fmt::print("\nnotes\n");
  for (const std::string& note : machine.notes) PrintText("  " + note);
}

std::string Value(const Figure& f) { return fmt::format("{}{:.4g}", f.is_estimate() ? "~" : "", f.value); }

// Prints a row for each figure and a column for each GPU.
void PrintDescribedGpus(const MachineFile& file) {
  if (file.gpus.empty()) return;
  Rows rows{{""}};
  for (const DescribedGpu& gpu : file.gpus) rows[0].push_back(gpu.name);
  for (const GpuFigureKey& k : GpuFigureKeys()) {
    rows.push_back({k.key});
    for (const DescribedGpu& gpu : file.gpus) rows.back().push_back(Value(gpu.figures.*k.figure));
  }
  const std::pair<const char*, Figure GpuFigures::*> peaks[] = {
      {"= f32 GFLOP/s", &GpuFigures::f32_flops_per_cycle},
      {"= f16 GFLOP/s", &GpuFigures::f16_flops_per_cycle},
      {"= int8 GOP/s", &GpuFigures::int8_ops_per_cycle}};
  for (const auto& [name, per_cycle] : peaks) {
    rows.push_back({name});
    for (const DescribedGpu& gpu : file.gpus)
      rows.back().push_back(fmt::format("{:.4g}", gpu.figures.peak_gflops(gpu.figures.*per_cycle)));
  }
  PrintTable("GPUs; figures per cycle are those of a compute unit", rows,
             "l" + std::string(file.gpus.size(), 'r'));
}

// Prints a row for each figure and a column for each cluster.
void PrintFigures(const MachineFile& file) {
  Rows rows{{""}};
  for (const Cluster& c : file.machine.clusters) rows[0].push_back(c.name);
  for (const ClusterFigureKey& k : ClusterFigureKeys()) {
    rows.push_back({k.key});
    for (const ClusterFigures& f : file.clusters) rows.back().push_back(Value(f.*k.figure));
  }
  rows.push_back({"= f32 GFLOP/s of a core"});
  for (const ClusterFigures& f : file.clusters) rows.back().push_back(fmt::format("{:.4g}", f.f32_gflops()));
  rows.push_back({"= int8 GOP/s of a core"});
  for (const ClusterFigures& f : file.clusters) rows.back().push_back(fmt::format("{:.4g}", f.int8_gops()));
  PrintTable("figures (~: an estimate; --sources says where each one comes from)", rows,
             "l" + std::string(file.clusters.size(), 'r'));
  fmt::print("\nmemory: {} GiB, {} GB/s\n", Value(file.memory_gib), Value(file.memory_gbytes_per_s));
}

void PrintSources(const MachineFile& file) {
  Rows rows{{"of", "figure", "value", "source"}};
  rows.push_back({"memory", "gib", Value(file.memory_gib), file.memory_gib.source});
  rows.push_back(
      {"memory", "gbytes_per_s", Value(file.memory_gbytes_per_s), file.memory_gbytes_per_s.source});
  for (size_t i = 0; i < file.clusters.size(); ++i) {
    const Cluster& c = file.machine.clusters[i];
    const ClusterFigures& figures = file.clusters[i];
    const auto add = [&](const std::string& what, const Figure& f) {
      rows.push_back({c.name, what, Value(f), f.source});
    };
    rows.push_back({c.name, "cores", FormatCoreList(c.cores), file.sources[i]});
    for (size_t k = 0; k < c.caches.size(); ++k)
      add(fmt::format("L{} KiB", c.caches[k].level), figures.cache_kib[k]);
    for (const ClusterFigureKey& k : ClusterFigureKeys()) add(k.key, figures.*k.figure);
  }
  for (const DescribedGpu& gpu : file.gpus) {
    rows.push_back({gpu.name, "name", "", gpu.source});
    for (const GpuFigureKey& k : GpuFigureKeys()) {
      const Figure& f = gpu.figures.*k.figure;
      rows.push_back({gpu.name, k.key, Value(f), f.source});
    }
  }
  PrintTable("sources", rows, "llrw");
}

void ShowFile(const MachineFlags& flags, const Context& context) {
  const MachineFile file = ReadMachineFile(FindBoard(flags.file, "--machine"));
  if (context.json) return PrintJson(Json::parse(ToJson(file)));
  PrintHead(file.machine);
  PrintClusters(file.machine);
  PrintFigures(file);
  PrintDescribedGpus(file);
  if (flags.sources) PrintSources(file);
}

void ShowMachine(const MachineFlags& flags, const Context& context) {
  if (!flags.file.empty()) return ShowFile(flags, context);
  if (flags.root == "/") PutBackLeftFrequencies(context);
  const Machine machine = ReadMachine(flags.root);
  Verify(machine);
  // A copied tree has no drivers.
  const opencl::GpuList gpus = flags.root == "/" ? GpusOfThisMachine() : opencl::GpuList();
  if (context.json) {
    Json j = Json::parse(ToJson(machine));
    if (flags.root == "/") AddGpus(gpus, j);
    return PrintJson(j);
  }
  PrintMachine(machine);
  if (flags.root == "/") PrintGpus(gpus);
  PrintNotes(machine);
}

constexpr const char* kFooter =
    R"(A cluster is a group of cores that are equally fast and share a cache and a clock. Its capacity is the speed of one of its cores
beside the machine's fastest: a first guess, from what the kernel says, until kernels are measured. Cores that this process may
not use (taskset, cpuset of a container) are left out. Notes say what could not be read.

A GPU is tried by a child process, because drivers crash: small kernels show which types it computes with, whether host and GPU
see the same memory, and how fast it is. The answer is kept until a driver changes. METE_GPU=off asks no driver; METE_GPU=cpu
counts OpenCL devices on the CPU, such as PoCL, as GPUs, for tests. A GPU computes where --processors names it: cpu,gpu.

Examples:
  mete machine
  mete machine --json | jq '.clusters[].cores'
  mete machine --machine rk3399 --sources
  mete machine --root copied-from-a-phone)";

}  // namespace

void AddMachine(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "machine", "print what hardware there is: clusters, caches, frequencies, energy meters, GPUs");
  auto flags = std::make_shared<MachineFlags>();
  CLI::Option* root = command->add_option(
      "--root", flags->root, "read this folder, a copy of another machine's proc/ and sys/, instead");
  root->type_name("DIR")->check(Folder());
  CLI::Option* file =
      command->add_option("--machine", flags->file, "print this machine file (boards/*.toml) instead");
  file->type_name("FILE.toml")->excludes(root);
  command->add_flag("--sources", flags->sources, "also where each figure of the machine file comes from")
      ->needs(file);
  AddJsonFlag(*command, context);
  command->footer(kFooter);
  command->callback(
      [flags, &context] { context.command = [flags, &context] { ShowMachine(*flags, context); }; });
}

}  // namespace mete::cli
