// The processor of an entry of a pool.
#include <algorithm>

#include "base/error.h"
#include "machine/gpu_entry.h"
#include "machine/toml_keys.h"
#include "mete/device.h"
#include "processor/opencl/find/find_gpus.h"
#include "processor/opencl/gpu/gpu_processor.h"

namespace mete::opencl {
namespace {

std::string ReasonsOf(const GpuList& list) {
  return list.left_out.empty() ? "" : fmt::format("; {}", fmt::join(list.left_out, "; "));
}

GpuEntry EntryOf(const ProcessorEntry& entry) {
  const auto* settings = std::any_cast<GpuEntry>(&entry.settings);
  return settings ? *settings : GpuEntry();
}

DType StorageOf(const GpuEntry& gpu) { return gpu.type == GpuType::kF16 ? DType::kF16 : DType::kF32; }

// Returns the device of "gpu:0/1" that a child process has tried, "gpu:0"; null: it has found none.
const Gpu* FindGpu(const GpuList& list, const std::string& device) {
  const std::string whole = device.substr(0, device.find('/'));
  for (const Gpu& gpu : list.gpus)
    if (gpu.facts.name == whole) return &gpu;
  return nullptr;
}

// `code` is that of the Error if there is none.
const Gpu& FoundGpu(const GpuList& list, const std::string& device, Code code) {
  if (const Gpu* gpu = FindGpu(list, device)) return *gpu;
  Fail(code, device, "there is no such GPU; this machine has {} GPUs; try 'mete machine'{}", list.gpus.size(),
       ReasonsOf(list));
}

void CheckProved(const Gpu& gpu, GpuType type, Code code) {
  const bool serves = gpu.proved.computes_f32 && (type == GpuType::kF32 || gpu.proved.stores_f16);
  if (serves) return;
  Fail(code, gpu.facts.name, "its kernels have not proved that it computes {}{}{}",
       gpu.proved.computes_f32 ? "with f16 in memory" : "f32", gpu.proved.problems.empty() ? "" : "; ",
       fmt::join(gpu.proved.problems, "; "));
}

}  // namespace

TriedDevice FindDeviceOf(const ProcessorEntry& entry, GpuProcessor::Look look, const CancelToken& cancel) {
  const GpuEntry gpu = EntryOf(entry);
  const FindGpusOptions options{
      .cache_folder = CacheFolder(),
      .failures = look == GpuProcessor::Look::kAgain ? Failures::kTryAgain : Failures::kRemember,
      .cancel = &cancel};
  const GpuList list = FindGpus(options);
  const Code code = MayFindMore(options) ? Code::kUnavailable : Code::kFailedPrecondition;
  const Gpu& found = FoundGpu(list, gpu.device, code);
  CheckProved(found, gpu.type, code);
  return {OpenDevice(gpu.device, GpuChoiceFromEnvironment().cpu_devices, list.drivers), found.proved};
}

namespace {

// Returns the device that one of the processors uses; a new one if none uses it.
std::shared_ptr<GpuInUse> InUseBy(std::span<const std::shared_ptr<Processor>> made,
                                  const std::string& device) {
  for (const std::shared_ptr<Processor>& other : made)
    if (const auto* gpu = dynamic_cast<const GpuProcessor*>(other.get()); gpu && gpu->unit() == device)
      return gpu->in_use();
  return std::make_shared<GpuInUse>();
}

}  // namespace

void ReadGpu(TomlKeys& keys, ProcessorEntry& entry) {
  GpuEntry gpu;
  if (const toml::node* at = keys.Find("device")) {
    gpu.device = keys.Text("device");
    if (!IsGpuDevice(gpu.device))
      keys.Problem(at, "is no GPU; got '{}', expected one like gpu:0, or gpu:0/1 for a unit of it",
                   Printable(gpu.device.substr(0, 80)));
  }
  if (const toml::node* at = keys.Find("type")) {
    const std::string type = keys.Text("type");
    if (type == "f16") gpu.type = GpuType::kF16;
    else if (type != "f32")
      keys.Problem(at, "its type is unknown; got '{}', expected f32 or f16", Printable(type.substr(0, 80)));
  }
  if (const toml::node* at = keys.Find("exact")) {
    gpu.exact_bytes = at->value_exact<bool>().value_or(false);
    if (!at->is_boolean()) keys.Problem(at, "'exact' is neither true nor false");
  }
  for (const char* key : {"cores", "speed"})
    if (const toml::node* at = keys.Find(key)) keys.Problem(at, "'{}' is of cores, and a GPU has none", key);
  SetGpu(entry, gpu);
}

std::string GpuHardwareOf(const ProcessorEntry& entry) {
  const GpuList list = FindGpus({.cache_folder = CacheFolder()});
  const Gpu* const gpu = FindGpu(list, EntryOf(entry).device);
  return gpu ? DriverText(gpu->facts) : "";
}

bool KnowsGpuHardware(const ProcessorEntry&) {
  return KnownGpus({.cache_folder = CacheFolder()}).has_value();
}

std::vector<std::string> KernelsOnGpu(const ProcessorEntry& entry, const Graph& share) {
  const GpuEntry gpu = EntryOf(entry);
  return GpuKernelsOf(share, {.storage = StorageOf(gpu), .exact_bytes = gpu.exact_bytes});
}

std::shared_ptr<Processor> MakeGpu(const ProcessorEntry& entry, const SessionOptions& options,
                                   std::span<const std::shared_ptr<Processor>> made) {
  const GpuEntry gpu = EntryOf(entry);
  return std::make_shared<GpuProcessor>(
      entry.name,
      [entry](GpuProcessor::Look look, const CancelToken& cancel) {
        return FindDeviceOf(entry, look, cancel);
      },
      GpuProcessorOptions{.storage = StorageOf(gpu),
                          .exact_bytes = gpu.exact_bytes,
                          .unit = gpu.device,
                          .kernels_folder = options.tuning_cache,
                          .tune = options.tune != Tune::kNever,
                          .caller_core = entry.cores.empty() ? -1 : entry.cores[0]},
      InUseBy(made, gpu.device));
}

}  // namespace mete::opencl
