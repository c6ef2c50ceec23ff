// A libFuzzer target for whole models.
#include "base/error.h"
#include "graph/graph.h"
#include "import/tflite/tflite.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    mete::ImportOptions options;
    options.max_value_bytes = 1 << 28;
    const auto bytes = std::as_bytes(std::span(data, size));
    const mete::Imported imported = mete::ImportTflite(bytes, nullptr, "fuzz", options);
    mete::Verify(imported.graph);
  } catch (const mete::Error&) {}
  return 0;
}
