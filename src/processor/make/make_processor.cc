#include "processor/make/make_processor.h"

#include "base/error.h"
#include "base/nearest.h"
#include "machine/affinity.h"
#include "machine/machine.h"
#include "processor/cpu/cpu.h"
#include "processor/cpu/kernels_of.h"
#include "processor/emulated/emulated.h"
#include "processor/opencl/gpu/gpu_processor.h"

namespace mete {
namespace {

// Returns the options with the cores of the entry, if it has some.
SessionOptions OnCoresOf(const ProcessorEntry& entry, SessionOptions options) {
  if (entry.cores.empty()) return options;
  options.cores = entry.cores;
  options.threads = int(entry.cores.size());
  return options;
}

using Made = std::span<const std::shared_ptr<Processor>>;

std::shared_ptr<Processor> MakeCpu(const ProcessorEntry& entry, SessionOptions options, Made) {
  return std::make_shared<Cpu>(entry.name, CpuOptionsOf(entry, std::move(options)));
}

std::string OfCores(const ProcessorEntry&) { return ""; }
bool KnowsCores(const ProcessorEntry&) { return true; }

std::vector<std::string> KernelsOnCores(const ProcessorEntry&, const Graph& share) {
  return CpuKernelsOf(share);
}

std::shared_ptr<Processor> MakeSlow(const ProcessorEntry& entry, SessionOptions options, Made) {
  return MakeEmulated(entry, std::move(options));
}

std::shared_ptr<Processor> MakeGpu(const ProcessorEntry& entry, SessionOptions options, Made made) {
  return opencl::MakeGpu(entry, options, made);
}

struct Kind {
  const char* name;
  void (*read)(TomlKeys& keys, ProcessorEntry& entry);  // its own keys in a pool file; null: it has none
  // `options` have the threads and cores of the entry. `made`: those that are made already, of which one may
  // have the same hardware.
  std::shared_ptr<Processor> (*make)(const ProcessorEntry& entry, SessionOptions options, Made made);
  std::string (*hardware)(const ProcessorEntry& entry);
  bool (*knows_hardware)(const ProcessorEntry& entry);
  std::vector<std::string> (*kernels)(const ProcessorEntry& entry, const Graph& share);
};

constexpr Kind kKinds[] = {
    {"cpu", nullptr, MakeCpu, OfCores, KnowsCores, KernelsOnCores},
    {"emulated", ReadEmulation, MakeSlow, OfCores, KnowsCores, KernelsOnCores},
    {"gpu", opencl::ReadGpu, MakeGpu, opencl::GpuHardwareOf, opencl::KnowsGpuHardware, opencl::KernelsOnGpu},
};

const Kind& KindOf(const ProcessorEntry& entry) {
  for (const Kind& kind : kKinds)
    if (kind.name == entry.kind) return kind;
  Invalid(entry.name, "its kind is unknown; got '{}'{}", Printable(entry.kind),
          ExpectedOneOf(entry.kind, ProcessorKinds()));
}

}  // namespace

std::vector<std::string> ProcessorKinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.push_back(kind.name);
  return names;
}

PoolFile ReadPool(const std::string& path) {
  std::vector<KindInFile> kinds;
  for (const Kind& kind : kKinds) kinds.push_back({kind.name, kind.read});
  return ReadPoolFile(path, kinds);
}

PoolFile ReadPoolThatIsThere(const std::string& path) {
  PoolFile pool = ReadPool(path);
  if (pool.described())
    Invalid(
        path,
        "describes devices to simulate, without addresses; expected a file of workers; try it with plan or "
        "simulate, or write one with 'mete devices --toml'");
  return pool;
}

SessionOptions CpuOptionsOf(const ProcessorEntry& entry, SessionOptions options) {
  options = OnCoresOf(entry, std::move(options));
  if (options.threads <= 0) options.threads = ReadMachine().default_threads();
  if (entry.speed < 1) options.speeds.assign(size_t(options.threads), entry.speed);
  return options;
}

std::shared_ptr<Processor> MakeProcessor(const ProcessorEntry& entry, SessionOptions options) {
  return KindOf(entry).make(entry, OnCoresOf(entry, std::move(options)), {});
}

std::vector<std::shared_ptr<Processor>> MakeProcessors(const std::vector<ProcessorEntry>& entries,
                                                       const SessionOptions& options) {
  std::vector<std::shared_ptr<Processor>> processors;
  for (const ProcessorEntry& entry : WithCallerCores(entries, AllowedCores()))
    processors.push_back(KindOf(entry).make(entry, OnCoresOf(entry, options), processors));
  return processors;
}

std::string HardwareOf(const ProcessorEntry& entry) { return KindOf(entry).hardware(entry); }

bool KnowsHardwareOf(const ProcessorEntry& entry) { return KindOf(entry).knows_hardware(entry); }

std::vector<std::string> KernelsOf(const ProcessorEntry& entry, const Graph& share) {
  return KindOf(entry).kernels(entry, share);
}

}  // namespace mete
