// What a server says over REST: answers, errors, and what it knows of itself and of its models, as bodies of
// HTTP. All bodies are JSON; an answer may have elements in bytes behind it. Texts may have any bytes: those
// that are no UTF-8 are replaced.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/protocol/inference.h"
#include "serve/protocol/metadata.h"

namespace mete::serve {

struct RestAnswer {
  std::string body;
  // The header Inference-Header-Content-Length; nothing: all of the body is JSON, and the header is left out.
  std::optional<size_t> json_bytes;
};

// The elements of outputs with `binary` are behind the JSON, in the order of the outputs.
RestAnswer AnswerBody(const InferAnswer& answer);

std::string ErrorBody(std::string_view error);  // {"error": ...}

struct Health {
  bool live = false, ready = false;
};
// Of a server, or of a model: its name is said if there is one. KServe's client reads "live" or "ready",
// others read the status of HTTP alone.
std::string HealthBody(const Health& health, std::string_view model = {});

std::string ServerBody(const ServerMetadata& server);
std::string ModelBody(const ModelMetadata& model);
std::string IndexBody(const std::vector<IndexEntry>& models);
std::string StatisticsBody(const std::vector<ModelStatistics>& models);

}  // namespace mete::serve
