// Converts a share's graph to bytes and back: a device is sent these bytes and computes the graph. The bytes
// have no large weights; they name them by their digests, because a weight is sent only once. Any program
// that reaches a port can send bytes, so no field is trusted: numbers and sizes have limits, and the
// resulting graph is verified.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "network/wire/digest.h"

namespace mete {

// The version of graph.proto and of operators' attributes. Graphs of other versions are refused.
inline constexpr uint32_t kWireVersion = 2;
// The size of the largest constant that is sent inside the graph. This value is a guess: to ask for such a
// constant by its digest would cost more.
inline constexpr size_t kMostInlineBytes = 4096;

struct PackedGraph {
  std::string bytes;
  std::map<Digest, Tensor> weights;  // the weights that the bytes name
};

// Packs a graph. Error where a value is not in plain order: graphs are sent as they are before the pass
// `layout`. `digests` caches the tensors' digests for the next graph that has the same tensors; it may be
// null.
PackedGraph PackGraph(const Graph& graph, DigestMemo* digests = nullptr);

// Returns the bytes of a graph whose weights are not needed. Consecutive numbers take the place of the
// digests, which take long to compute for many megabytes.
std::string PackWithoutWeights(const Graph& graph);

struct WireLimits {
  // Bytes of the message. The parsed message is up to 50 times as large. This value is a guess: ResNet-50 has
  // 50 KB.
  size_t max_bytes = size_t(8) << 20;
  int max_values = 100'000, max_nodes = 100'000;  // guesses: models have some thousands
  int max_attributes = 1000;                      // of one node; guess
  int64_t max_value_bytes = int64_t(1) << 33;     // of one value
  int64_t max_weight_bytes = int64_t(1) << 33;    // of all constants together
};

// Returns the tensor with this digest, which has the type and shape that the graph says, or an empty tensor
// where the device does not have it. UnpackGraph compares the type and shape of the result but not its
// digest: a digest is checked when a tensor is stored.
using FindWeight = std::function<Tensor(const Digest&, DType, const Shape&)>;

// Returns the digests that the bytes name, each once. Errors as of UnpackGraph.
std::vector<Digest> WeightsIn(std::string_view bytes, const WireLimits& limits = {});

// Returns the graph of the bytes. Error if the bytes are no graph, have another version, exceed a limit, or
// do not verify, or if `find` returns no tensor or one that does not fit.
Graph UnpackGraph(std::string_view bytes, const FindWeight& find, const WireLimits& limits = {});

}  // namespace mete
