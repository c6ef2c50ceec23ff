// The processors of this device that a pool file names: the one place that knows all kinds.
#pragma once

#include <memory>

#include "machine/pool_file.h"
#include "processor/processor.h"

namespace mete {

// `options`: of every share, but for threads, cores and speeds, which are the entry's.
std::shared_ptr<Processor> MakeProcessor(const ProcessorEntry& entry, SessionOptions options);

// Returns `options` with the threads, cores and speeds of an entry that is a CPU.
SessionOptions CpuOptionsOf(const ProcessorEntry& entry, SessionOptions options);

}  // namespace mete
