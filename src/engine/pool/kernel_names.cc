#include "engine/pool/kernel_names.h"

#include <algorithm>

#include "mete/error.h"
#include "plan/pool/program.h"
#include "processor/make/make_processor.h"

namespace mete {
namespace {

// Returns the entries of a pool in the order of its processors; nothing for a worker's, whose kinds it knows
// alone.
std::vector<std::optional<ProcessorEntry>> EntriesOf(const PoolFile& file) {
  std::vector<std::optional<ProcessorEntry>> entries;
  for (const DeviceInPool& device : file.devices) {
    const bool is_here = device.address.empty();
    if (device.processors.empty())
      entries.push_back(is_here ? std::optional(ProcessorEntry{.name = device.name}) : std::nullopt);
    for (const ProcessorEntry& entry : device.processors)
      entries.push_back(is_here ? std::optional(entry) : std::nullopt);
  }
  return entries;
}

std::vector<PoolPlan::Kernel> Counted(const std::vector<std::string>& names) {
  std::vector<PoolPlan::Kernel> kernels;
  for (const std::string& name : names) {
    const auto at = std::find_if(kernels.begin(), kernels.end(),
                                 [&](const PoolPlan::Kernel& kernel) { return kernel.name == name; });
    if (at == kernels.end()) kernels.push_back({name, 1});
    else ++at->times;
  }
  return kernels;
}

// A plan for boards that are not there may give a processor what it has no kernel for: estimates know of
// none.
std::vector<std::string> NamesOrNone(const ProcessorEntry& entry, const Graph& share) {
  try {
    return KernelsOf(entry, share);
  } catch (const Error& error) {
    if (error.code() != Code::kUnimplemented) throw;
    return {};
  }
}

}  // namespace

void AddKernelNames(const Graph& graph, const Plan& plan, const PoolFile& file, PoolPlan& report) {
  const std::vector<Program> programs = ProgramsOf(graph, plan);
  const auto entries = EntriesOf(file);
  for (size_t g = 0; g < report.groups.size(); ++g)
    for (PoolPlan::Share& share : report.groups[g].shares) {
      const auto& entry = entries[size_t(share.processor)];
      if (entry)
        share.kernels = Counted(NamesOrNone(*entry, programs[size_t(share.processor)].stages[g].graph));
    }
}

}  // namespace mete
