// The texts of a client's requests and answers, without a connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "serve/client/client.h"

namespace mete::serve {

std::string InferTarget(const std::string& model);  // "/v2/models/a%20b/infer"
std::string ClassifyTarget(const std::string& model, int classes);

// The JSON of a request with the elements of all inputs behind it; asks for outputs in bytes.
struct InferBody {
  std::string bytes;
  size_t json_bytes = 0;
};
InferBody BodyOf(const InferRequest& request);

// Reads the body of an answer, whose elements are in the JSON or behind it. Error INVALID_ARGUMENT, or
// RESOURCE_EXHAUSTED for shapes of more than `most_bytes`, before memory is asked for.
InferAnswer ParseAnswer(std::shared_ptr<const std::string> body, std::optional<size_t> json_bytes,
                        int64_t most_bytes);

// The value of a header Server-Timing; nothing if a step is missing. Steps of other names are skipped.
std::optional<ServerSteps> StepsOf(std::string_view server_timing);

// A number that is 0 or more, and finite; nothing: the text is none.
std::optional<double> NumberOf(std::string_view text);

Code CodeOfStatus(int status);
// The text of an error's body, {"error": ...}; for others the body's beginning.
std::string ErrorTextOf(const std::string& body);

}  // namespace mete::serve
