// A libFuzzer target that imports any bytes as an ONNX model. The model needs no owner of the bytes, because
// they outlive the result.
#include "import/onnx/onnx.h"
#include "mete/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mete::ImportOptions options;
  options.max_value_bytes = int64_t(64) << 20;
  try {
    mete::ImportOnnx({reinterpret_cast<const std::byte*>(data), size}, nullptr, "fuzz", "", options);
  } catch (const mete::Error&) {}
  return 0;
}
