// A libFuzzer target that parses any bytes as the body of a request. The first two bytes are the length of
// the JSON; more than there is stands for a body without the header. The inputs of a request that is accepted
// are written as the outputs of an answer, some as lists and some in bytes; read and written again, they must
// be the same text.
#include <cstdlib>
#include <cstring>

#include "mete/error.h"
#include "serve/protocol/rest_answer.h"
#include "serve/protocol/rest_request.h"

namespace {

using namespace mete::serve;

InferRequest Parse(const std::string& body, std::optional<size_t> json_bytes, const RequestBounds& bounds) {
  return ParseInfer(std::as_bytes(std::span(body)), json_bytes, bounds, nullptr);
}

// Returns the body of an answer that has a request's inputs, with another name for the list of them.
RestAnswer Written(const InferRequest& request) {
  InferAnswer answer;
  answer.id = request.id;
  answer.outputs = request.inputs;
  for (size_t i = 0; i < answer.outputs.size(); ++i) answer.outputs[i].binary = i % 2 == 1;
  RestAnswer made = AnswerBody(answer);
  const std::string outputs = "\"outputs\":[", inputs = "\"inputs\": [";
  made.body.replace(made.body.find(outputs), outputs.size(), inputs);
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t json_bytes = data[0] | size_t(data[1]) << 8;
  const std::string body(reinterpret_cast<const char*>(data) + 2, size - 2);
  const RequestBounds bounds = {
      .input_bytes = int64_t(16) << 20, .tensors = 16, .json_bytes = int64_t(64) << 10};
  const RequestBounds wide = {
      .input_bytes = int64_t(64) << 20, .tensors = 16, .json_bytes = int64_t(4) << 20};
  try {
    const auto split = json_bytes > body.size() ? std::nullopt : std::optional(json_bytes);
    const RestAnswer once = Written(Parse(body, split, bounds));
    try {
      if (Written(Parse(once.body, once.json_bytes, wide)).body != once.body) std::abort();
    } catch (const mete::Error&) {
      std::abort();
    }
  } catch (const mete::Error&) {}
  try {
    (void)ParseIndex(body);
    CheckLoad(body);
  } catch (const mete::Error&) {}
  return 0;
}
