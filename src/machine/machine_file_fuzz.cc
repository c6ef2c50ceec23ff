// A libFuzzer target: reads any bytes as a machine file. An accepted file must verify and have sources.
#include <cstdlib>

#include "machine/file.h"
#include "mete/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const mete::MachineFile file =
        mete::ParseMachineFile({reinterpret_cast<const char*>(data), size}, "fuzz");
    mete::Verify(file.machine);
    for (const mete::ClusterFigures& cluster : file.clusters)
      for (const mete::ClusterFigureKey& k : mete::ClusterFigureKeys()) {
        const mete::Figure& f = cluster.*k.figure;
        if (f.source.empty() || !(f.value >= k.least && f.value <= k.most)) std::abort();
      }
    (void)mete::ToJson(file);
  } catch (const mete::Error&) {}
  return 0;
}
