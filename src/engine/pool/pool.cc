#include "mete/pool.h"

#include <algorithm>

#include "base/error.h"
#include "engine/pool/open_pool.h"
#include "engine/pool/pool_internals.h"
#include "engine/pool/several_processors.h"
#include "engine/pool/stored_profile.h"
#include "machine/board_processors.h"
#include "machine/gpu_entry.h"
#include "plan/pool/named.h"
#include "plan/pool/objective.h"
#include "processor/make/make_processor.h"
#include "simulate/pool/estimate_pool.h"

namespace mete {
namespace {

std::vector<PoolProcessor> ProcessorsOf(const PoolFile& file) {
  std::vector<PoolProcessor> all;
  for (const DeviceInPool& device : file.devices) {
    const bool is_here = device.address.empty();
    if (device.processors.empty())
      all.push_back({device.name, device.name, device.address, {}, 1, is_here ? "cpu" : ""});
    for (const ProcessorEntry& p : device.processors)
      all.push_back(
          {NameInPool(device, p), device.name, device.address, p.cores, p.speed, is_here ? p.kind : ""});
  }
  return all;
}

std::shared_ptr<const PoolInternals::Impl> PoolOf(PoolFile file, std::shared_ptr<const Network> network) {
  auto impl = std::make_shared<PoolInternals::Impl>();
  impl->name = file.name;
  impl->processors = ProcessorsOf(file);
  impl->file = std::move(file);
  impl->network = std::move(network);
  return impl;
}

void CheckReachesWorkers(const PoolFile& file, const Network* network, const std::string& path) {
  if (network) return;
  for (const DeviceInPool& device : file.devices)
    if (!device.address.empty())
      Fail(Code::kUnimplemented, path,
           "names a worker, and this program has no way to it; got '{}' at {}, expected processors of this "
           "device; try OpenNetwork() of mete/network.h",
           Printable(device.name), Printable(device.address));
}

KnownCosts Known(PoolCosts costs, PoolFile file) {
  const bool power = std::any_of(costs.processors.begin(), costs.processors.end(),
                                 [](const ProcessorCosts& p) { return p.power.has_value(); });
  return {
      std::move(costs),
      fmt::format("Times of layers, each by itself, and the links' figures are those that mete profile has "
                  "measured.{}",
                  power ? " Watts are the file's." : ""),
      "", std::move(file)};
}

KnownCosts Estimated(const Graph& graph, const PoolFile& file) {
  const bool devices = file.devices[0].processors.empty();
  return {
      EstimatePool(graph, file),
      devices
          ? "Nothing here was measured. Estimates: the time of every layer on each device, a roofline of its "
            "machine file's figures; and the links' figures, as the pool's file says."
          : "Nothing here was measured. Estimates: the time of every layer on each processor, on the cores a "
            "roofline of the machine file's figures, on a GPU waves of blocks by its figures; and, as the "
            "file says, launching, mapping, waiting, and how much both sides slow each other.",
      devices ? "all times of layers, and the links' figures"
              : "all times of layers, of sharing, and by how much both sides slow each other",
      file};
}

}  // namespace

Pool Pool::FromList(const std::string& list) { return Pool(PoolOf(PoolOfList(list), nullptr)); }

bool Pool::IsList(const std::string& text) { return IsProcessorList(text); }

Pool Pool::FromProcessors(const std::vector<CpuCores>& processors) {
  if (processors.empty()) Invalid("processors", "are none; expected one or more");
  PoolFile file{.devices = {{.name = "here"}}};
  for (const CpuCores& p : processors) {
    if (p.name.empty()) Invalid("processors", "one has no name; expected names that differ");
    if (!(p.speed >= 0.01 && p.speed <= 1))
      Invalid(p.name, "has a speed that cannot be emulated; got {}, expected 0.01 to 1", p.speed);
    const auto same = [&](const ProcessorEntry& other) { return other.name == p.name; };
    if (std::any_of(file.devices[0].processors.begin(), file.devices[0].processors.end(), same))
      Invalid("processors", "has a processor twice; got {}", Printable(p.name));
    file.devices[0].processors.push_back({p.name, p.cores, p.speed});
    file.name += (file.name.empty() ? "" : ",") + p.name;
  }
  return Pool(PoolOf(std::move(file), nullptr));
}

Pool Pool::FromFile(const std::string& path, std::shared_ptr<const Network> network) {
  PoolFile file = ReadPool(path);
  CheckReachesWorkers(file, network.get(), path);
  return Pool(PoolOf(std::move(file), std::move(network)));
}

Pool Pool::FromMachine(const std::string& path, const std::string& list) {
  return Pool(PoolOf(PoolOfBoard(path, list), nullptr));
}

Pool Pool::WithExactBytes(bool exact) const {
  const Impl& impl = PoolInternals::Of(*this);
  if (!exact) return *this;
  PoolFile file = impl.file;
  for (DeviceInPool& device : file.devices)
    for (ProcessorEntry& p : device.processors)
      if (const auto* gpu = std::any_cast<GpuEntry>(&p.settings)) SetGpu(p, {gpu->device, gpu->type, true});
  return Pool(PoolOf(std::move(file), impl.network));
}

Pool PoolInternals::Make(PoolFile file, std::shared_ptr<const Network> network) {
  return Make(PoolOf(std::move(file), std::move(network)));
}

const PoolInternals::Impl& PoolInternals::Of(const Pool& pool) {
  if (!pool.impl_)
    Fail(Code::kFailedPrecondition, "pool",
         "it is empty: made by default, or moved from; try Pool::FromList()");
  return *pool.impl_;
}

const std::string& Pool::name() const { return PoolInternals::Of(*this).name; }
const std::vector<PoolProcessor>& Pool::processors() const { return PoolInternals::Of(*this).processors; }
bool Pool::is_here() const { return !PoolInternals::Of(*this).file.described(); }

KnownCosts PoolInternals::CostsOf(const Pool& pool, const Graph& graph, const PoolOptions& options) {
  const Impl& impl = Of(pool);
  if (impl.file.described()) return Estimated(graph, impl.file);
  return Known(CostsOn(NeededPoolProfile(graph, impl.file, options.kernels, options.note), impl.file),
               impl.file);
}

std::optional<KnownCosts> PoolInternals::CostsAsSeveral(const Pool& pool, const Graph& graph,
                                                        const PoolOptions& options) {
  const Impl& impl = Of(pool);
  if (impl.file.described()) return std::nullopt;
  const std::optional<PoolFile> file = AsSeveralProcessors(impl.file, options.kernels);
  if (!file) return std::nullopt;
  const std::optional<PoolProfile> stored = StoredPoolProfile(graph, *file, options.kernels, options.note);
  if (!stored) return std::nullopt;
  return Known(CostsOn(*stored, *file), *file);
}

}  // namespace mete
