// A libFuzzer target: reads any bytes as a machine file. An accepted file must verify and have sources.
#include <cstdlib>

#include "machine/file.h"
#include "mete/error.h"

template <class Figures>
static void CheckFigures(const Figures& figures, std::span<const mete::FigureKey<Figures>> keys) {
  for (const mete::FigureKey<Figures>& k : keys) {
    const mete::Figure& f = figures.*k.figure;
    if (f.source.empty() || !(f.value >= k.least && f.value <= k.most)) std::abort();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const mete::MachineFile file =
        mete::ParseMachineFile({reinterpret_cast<const char*>(data), size}, "fuzz");
    mete::Verify(file.machine);
    for (const mete::ClusterFigures& cluster : file.clusters)
      CheckFigures(cluster, mete::ClusterFigureKeys());
    for (const mete::DescribedGpu& gpu : file.gpus) CheckFigures(gpu.figures, mete::GpuFigureKeys());
    (void)mete::ToJson(file);
  } catch (const mete::Error&) {}
  return 0;
}
