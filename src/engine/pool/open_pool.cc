#include "engine/pool/open_pool.h"

#include <algorithm>

#include "base/error.h"
#include "machine/affinity.h"
#include "processor/make/make_processor.h"
#include "run/local_member.h"

namespace mete {
namespace {

// Returns why the processor cannot compute the model; empty if it can.
std::string WhyNot(const ProcessorEntry& entry, const Graph& graph) {
  const std::shared_ptr<Processor> processor = MakeProcessor(entry, SessionOptions::Estimated());
  for (const Node& node : graph.nodes)
    if (const std::string why = processor->WhyNot(graph, node); !why.empty())
      return fmt::format("node {}: {}", node.name, why);
  return "";
}

}  // namespace

SessionOptions KernelOptionsOf(const PoolOptions& options) {
  SessionOptions kernels = options.kernels;
  kernels.plan_json = {};
  kernels.progress = {};
  return kernels;
}

std::vector<Member*> OpenPool::pointers() const {
  std::vector<Member*> all;
  for (const auto& member : members) all.push_back(member.get());
  return all;
}

bool HasWorkers(const PoolFile& file) {
  return std::any_of(file.devices.begin(), file.devices.end(),
                     [](const DeviceInPool& device) { return !device.address.empty(); });
}

const PoolFile& FileOf(const PoolInternals::Impl& pool) {
  if (pool.file.described())
    Fail(Code::kFailedPrecondition, pool.name,
         "describes boards that are not here, which can be planned for but not used; expected a pool of "
         "processors; try a file with the addresses of workers");
  return pool.file;
}

OpenPool Open(const PoolInternals::Impl& pool, const PoolFile& file, const PoolOptions& options) {
  CheckCores(file, AllowedCores());
  const SessionOptions kernels = KernelOptionsOf(options);
  std::vector<std::shared_ptr<Processor>> here = MakeProcessors(file.devices[0].processors, kernels);
  if (here.empty()) here.push_back(MakeProcessor({.name = file.devices[0].name}, kernels));
  OpenPool open;
  open.home = here[0];
  open.members.push_back(nullptr);
  for (size_t i = 1; i < here.size(); ++i) open.members.push_back(std::make_unique<LocalMember>(here[i]));
  if (HasWorkers(file))
    for (auto& worker : pool.network->Open(file, options.note)) open.members.push_back(std::move(worker));
  return open;
}

PoolFile WithOffered(const PoolInternals::Impl& pool, PoolFile file, const PoolOptions& options) {
  for (DeviceInPool& device : file.devices) {
    if (device.address.empty() || !device.processors.empty()) continue;
    const std::vector<std::string> names = pool.network->OfferedBy(file, device, options.note);
    for (size_t i = 0; names.size() > 1 && i < names.size(); ++i)
      device.processors.push_back({.name = names[i]});
  }
  return file;
}

void CheckHome(const PoolFile& file, const Graph& graph) {
  const std::vector<ProcessorEntry>& here = file.devices[0].processors;
  if (here.empty()) return;  // a CPU
  if (const std::string why = WhyNot(here[0], graph); !why.empty())
    Fail(Code::kUnimplemented, here[0].name,
         "is the home and cannot compute the model; {}; try another processor as the first", why);
}

}  // namespace mete
