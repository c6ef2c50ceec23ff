// The processors of this device that a pool file names: the one place that knows all kinds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "machine/pool_file.h"
#include "processor/processor.h"

namespace mete {

// Returns the names of all kinds that a pool file may name; "cpu" is the first.
std::vector<std::string> ProcessorKinds();

// Calls ReadPoolFile() with all kinds. Throws one Error with all problems of the file.
PoolFile ReadPool(const std::string& path);
// The same; Error where the file describes devices that are not there.
PoolFile ReadPoolThatIsThere(const std::string& path);

// Makes the processor of an entry. `options` are those of every share, but for threads, cores and speeds,
// which are the entry's. Error INVALID_ARGUMENT if the entry's kind is unknown.
std::shared_ptr<Processor> MakeProcessor(const ProcessorEntry& entry, SessionOptions options);

// Makes the processors of this device that a file names, which share its cores (WithCallerCores()); those of
// one GPU have one context.
std::vector<std::shared_ptr<Processor>> MakeProcessors(const std::vector<ProcessorEntry>& entries,
                                                       const SessionOptions& options);

// Returns the device and the driver that compute the shares of an entry, as lines: times are of these alone.
// "" for the kinds that compute on cores, and for a device that is not there now. Where nobody knows a GPU's
// driver yet, a child process tries it first, which takes seconds.
std::string HardwareOf(const ProcessorEntry& entry);
// Returns whether HardwareOf() answers without a child process.
bool KnowsHardwareOf(const ProcessorEntry& entry);

// Returns the kernels that are expected to compute a share on the processor of an entry, in their order, with
// the type that each reads: "conv_f32", "pool_f16". They are estimates, which need no hardware; a processor
// that prepares the share may take others by their measured times. `share` is a graph before the pass
// `layout`. Errors are those of preparing it.
std::vector<std::string> KernelsOf(const ProcessorEntry& entry, const Graph& share);

// Returns `options` with the threads, cores and speeds of an entry that is a CPU.
SessionOptions CpuOptionsOf(const ProcessorEntry& entry, SessionOptions options);

}  // namespace mete
