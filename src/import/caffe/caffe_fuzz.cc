// A libFuzzer target for nets with weights. The first two bytes (little-endian) give the number of the
// following bytes that are the net; the remaining bytes are the weights.
#include "base/error.h"
#include "graph/graph.h"
#include "import/caffe/caffe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t split = std::min<size_t>(size - 2, data[0] | size_t(data[1]) << 8);
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, split);
  const auto weights = std::as_bytes(std::span(data + 2 + split, size - 2 - split));
  try {
    mete::ImportOptions options;
    options.max_value_bytes = 1 << 28;
    const mete::Imported imported = mete::ImportCaffe(text, weights, "fuzz", options);
    mete::Verify(imported.graph);
  } catch (const mete::Error&) {}
  return 0;
}
