// libFuzzer target: takes any bytes as a graph from another device. A graph that is accepted is packed again,
// and these bytes must unpack to a graph that packs to the same bytes.
#include <cstdlib>

#include "mete/error.h"
#include "network/wire/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mete::WireLimits limits;
  limits.max_value_bytes = limits.max_weight_bytes = int64_t(64) << 20;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Some weights are there and others are not, as on a device.
  const auto find = [](const mete::Digest& digest, mete::DType, const mete::Shape&) {
    return digest[0] % 2 == 0 ? mete::Tensor() : mete::Tensor(mete::DType::kF32, {int64_t(digest[1]) + 1});
  };
  try {
    (void)mete::WeightsIn(bytes, limits);
    const mete::Graph graph = mete::UnpackGraph(bytes, find, limits);
    const mete::PackedGraph again = mete::PackGraph(graph);
    const auto find_again = [&](const mete::Digest& digest, mete::DType, const mete::Shape&) {
      return again.weights.at(digest);
    };
    if (mete::PackGraph(mete::UnpackGraph(again.bytes, find_again, limits)).bytes != again.bytes)
      std::abort();
  } catch (const mete::Error&) {}
  return 0;
}
