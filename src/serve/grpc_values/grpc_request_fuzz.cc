// A libFuzzer target that takes any bytes as a request's message of gRPC. The inputs of a request that is
// accepted are written as the outputs of an answer, in fields and raw; read and written again, they must be
// the same.
#include <cstdlib>

#include "mete/error.h"
#include "serve/grpc_values/grpc_values.h"

namespace {

using namespace mete::serve;

inference::ModelInferResponse Written(const InferRequest& request, bool raw) {
  InferAnswer answer;
  answer.outputs = request.inputs;
  for (NamedTensor& output : answer.outputs) output.binary = raw;
  return MessageOf(answer);
}

inference::ModelInferRequest AsRequest(const inference::ModelInferResponse& answer) {
  inference::ModelInferRequest request;
  for (const auto& output : answer.outputs())
    if (!request.add_inputs()->ParseFromString(output.SerializeAsString())) std::abort();
  *request.mutable_raw_input_contents() = answer.raw_output_contents();
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto message = std::make_shared<inference::ModelInferRequest>();
  if (!message->ParseFromArray(data, int(size))) return 0;
  const RequestBounds bounds = {.input_bytes = int64_t(16) << 20, .tensors = 16};
  try {
    const InferRequest request = RequestOf(*message, bounds, message);
    for (const bool raw : {false, true}) try {
        const inference::ModelInferResponse once = Written(request, raw);
        const auto again = Written(RequestOf(AsRequest(once), bounds, nullptr), raw);
        if (again.SerializeAsString() != once.SerializeAsString()) std::abort();
      } catch (const mete::Error&) {
        std::abort();
      }
  } catch (const mete::Error&) {}
  return 0;
}
