#include "processor/make/make_processor.h"

#include "machine/machine.h"
#include "processor/cpu/cpu.h"
#include "processor/emulated/emulated.h"

namespace mete {

std::shared_ptr<Processor> MakeProcessor(const ProcessorEntry& entry, SessionOptions options) {
  if (!entry.cores.empty()) {
    options.cores = entry.cores;
    options.threads = int(entry.cores.size());
  }
  if (entry.emulation) return std::make_shared<Emulated>(entry.name, options, entry.speed, *entry.emulation);
  if (options.threads <= 0) options.threads = ReadMachine().default_threads();
  if (entry.speed < 1) options.speeds.assign(size_t(options.threads), entry.speed);
  return std::make_shared<Cpu>(entry.name, std::move(options));
}

}  // namespace mete
