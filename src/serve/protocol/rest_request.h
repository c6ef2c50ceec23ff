// A request's body over REST: JSON, and elements in bytes behind it (the protocol's extension for binary
// tensors).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "serve/protocol/inference.h"
#include "serve/protocol/request_bounds.h"

namespace mete::serve {

// Parses the body of an inference request. `json_bytes` is the header Inference-Header-Content-Length:
// elements in bytes follow the JSON of this size; nothing: all of the body is JSON. A tensor in bytes is used
// where it lies in the body if it is aligned there, and `owner` keeps the body; a reader who knows the header
// before the body can place it so that body + json_bytes is aligned to 64, and then no element of the first
// tensor is copied.
//
// Error INVALID_ARGUMENT with a line for each problem of the request; RESOURCE_EXHAUSTED if it is within no
// bound, before memory is asked for.
InferRequest ParseInfer(std::span<const std::byte> body, std::optional<size_t> json_bytes,
                        const RequestBounds& bounds, const std::shared_ptr<const void>& owner);

// Parses the body of POST v2/repository/index, which may be empty: returns whether only models that are ready
// are asked for.
bool ParseIndex(std::string_view body);

// Checks the body of POST v2/repository/models/M/load or unload, which may be empty (CheckLoadParameter).
// Other parameters are ignored.
void CheckLoad(std::string_view body);

}  // namespace mete::serve
