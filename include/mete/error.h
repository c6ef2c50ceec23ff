// The one exception type that leaves Mete, and its codes.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace [[gnu::visibility("default")]] mete {

// The codes of gRPC, so that an error has the same code in a process and on the network.
enum class Code {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kResourceExhausted = 8,
  // the request does not fit the model: a shape for an input that the model does not have
  kFailedPrecondition = 9,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
};

const char* CodeName(Code code);

// The text of what() has the form "[where] what; got X, expected Y; try Z". If a model has several problems,
// one Error reports all of them, one line each.
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};

}  // namespace mete
