#include "processor/make/make_processor.h"

#include "machine/machine.h"
#include "processor/cpu/cpu.h"
#include "processor/emulated/emulated.h"

namespace mete {

namespace {

// Returns the options with the cores of the entry, if it has some.
SessionOptions OnCoresOf(const ProcessorEntry& entry, SessionOptions options) {
  if (entry.cores.empty()) return options;
  options.cores = entry.cores;
  options.threads = int(entry.cores.size());
  return options;
}

}  // namespace

SessionOptions CpuOptionsOf(const ProcessorEntry& entry, SessionOptions options) {
  options = OnCoresOf(entry, std::move(options));
  if (options.threads <= 0) options.threads = ReadMachine().default_threads();
  if (entry.speed < 1) options.speeds.assign(size_t(options.threads), entry.speed);
  return options;
}

std::shared_ptr<Processor> MakeProcessor(const ProcessorEntry& entry, SessionOptions options) {
  if (entry.emulation)
    return std::make_shared<Emulated>(entry.name, OnCoresOf(entry, std::move(options)), entry.speed,
                                      *entry.emulation);
  return std::make_shared<Cpu>(entry.name, CpuOptionsOf(entry, std::move(options)));
}

}  // namespace mete
