// Requests and answers of the Open Inference Protocol, version 2, as values, whatever carried them: JSON over
// REST, JSON with binary tensors behind it, or gRPC.
//
// Source: the protocol's specification (github.com/kserve/open-inference-protocol) and its common extensions:
// binary tensors, classification, statistics, the repository of models.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mete/tensor.h"

namespace mete::serve {

// The protocol's names of element types: "FP32", "INT64", "BOOL", ... "BYTES" is no DType: its elements are
// texts, such as the bytes of a picture or the name of a class.
inline constexpr char kBytesDatatype[] = "BYTES";
const char* DatatypeOf(DType type);                // "" for kUnknown
DType DTypeOfDatatype(std::string_view datatype);  // kUnknown for BYTES and unknown names

using Parameter = std::variant<bool, int64_t, double, std::string>;
using Parameters = std::map<std::string, Parameter>;

struct NamedTensor {
  std::string name;
  Tensor tensor;                   // empty where the type is BYTES
  Shape shape;                     // of `tensor`, or of `texts`
  std::vector<std::string> texts;  // elements of the type BYTES
  bool binary = false;             // of an answer: whether REST sends the elements behind the JSON

  bool is_bytes() const { return !tensor.has_value(); }
  const char* datatype() const { return is_bytes() ? kBytesDatatype : DatatypeOf(tensor.type()); }
};

struct RequestedOutput {
  std::string name;
  bool binary = false;
  // The number of classes to answer instead of the scores, as BYTES "score:index:label"; 0: the scores.
  int64_t classes = 0;
};

struct InferRequest {
  std::string id;         // the caller's; the answer repeats it
  Parameters parameters;  // but those that have a member here
  std::vector<NamedTensor> inputs;
  std::vector<RequestedOutput> outputs;  // empty: all of the model's, with `binary_outputs`
  bool binary_outputs = false;
};

struct InferAnswer {
  std::string model, version, id;
  Parameters parameters;
  std::vector<NamedTensor> outputs;
};

}  // namespace mete::serve
