// A share's graph as bytes, and back: what a device is sent that shall compute it. Weights are not in it but
// named by their digests, as they travel once. Bytes come from whoever can reach a port, so nothing in them
// is believed: numbers and sizes have limits, and the graph that comes out is verified.
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

// of graph.proto and of operators' attributes: others are refused
inline constexpr uint32_t kWireVersion = 1;
// of a constant that is sent with the graph. Guess: asking for it costs more
inline constexpr size_t kMostInlineBytes = 4096;

struct PackedGraph {
  std::string bytes;
  std::map<Digest, Tensor> weights;  // that it names
};

// Error where a value is not in plain order: graphs are sent as they are before the pass `layout`. `digests`:
// where those of tensors are kept for the next graph that has the same ones; may be null.
PackedGraph PackGraph(const Graph& graph, DigestMemo* digests = nullptr);

// The bytes of a graph whose weights nobody needs: numbers stand for their digests, which take long for many
// megabytes.
std::string PackWithoutWeights(const Graph& graph);

struct WireLimits {
  // of the message: what it parses to is up to 50 times as large. Guess: ResNet-50 has 50 KB
  size_t max_bytes = size_t(8) << 20;
  int max_values = 100'000, max_nodes = 100'000;  // guess: models have some thousands
  int max_attributes = 1000;                      // of a node; guess
  int64_t max_value_bytes = int64_t(1) << 33;     // of any one
  int64_t max_weight_bytes = int64_t(1) << 33;    // of all constants together
};

// The tensor with this digest, which the graph says to have this type and shape, or none where it is not
// here. What it gives is checked against these, not against the digest: that is done when it is stored.
using FindWeight = std::function<Tensor(const Digest&, DType, const Shape&)>;

// The digests that the bytes name, each once. Error as UnpackGraph.
std::vector<Digest> WeightsIn(std::string_view bytes, const WireLimits& limits = {});

// Error for bytes that are not such a graph, are of another version, pass a limit, or do not verify; where
// `find` has no tensor, or one that does not fit.
Graph UnpackGraph(std::string_view bytes, const FindWeight& find, const WireLimits& limits = {});

}  // namespace mete
