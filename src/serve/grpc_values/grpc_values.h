// Requests and answers as the protocol's messages of gRPC, and what a server says of itself and of its
// models. This folder knows the messages (protobuf), not gRPC.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/protocol/inference.h"
#include "serve/protocol/metadata.h"
#include "serve/protocol/request_bounds.h"
#include "src/serve/grpc_values/open_inference.pb.h"

namespace mete::serve {

// Returns the request of a message; the names of the model and of its version stay there. Elements that have
// the bytes of their tensor are used where they lie if they are aligned, and `owner` keeps the message. The
// outputs are asked for in bytes (RequestedOutput::binary) if the inputs have raw contents, and where there
// are none. Error INVALID_ARGUMENT with a line for each problem, RESOURCE_EXHAUSTED for what is within no
// bound.
InferRequest RequestOf(const inference::ModelInferRequest& message, const RequestBounds& bounds,
                       const std::shared_ptr<const void>& owner);

// Checks a request to load a model (CheckLoadParameter). Other parameters are ignored.
void CheckLoad(const inference::RepositoryModelLoadRequest& message);

// The elements are raw contents if an output has `binary` or a type that the fields have not (FP16 and BF16);
// either all outputs are raw or none.
inference::ModelInferResponse MessageOf(const InferAnswer& answer);
inference::ServerMetadataResponse MessageOf(const ServerMetadata& server);
inference::ModelMetadataResponse MessageOf(const ModelMetadata& model);
inference::RepositoryIndexResponse MessageOf(const std::vector<IndexEntry>& models);
inference::ModelStatisticsResponse MessageOf(const std::vector<ModelStatistics>& models);

// Returns the text where bytes that are no UTF-8 are replaced: a reader refuses a message that has others in
// its strings. For the text of an error, too.
std::string Utf8(std::string_view text);

}  // namespace mete::serve
