// What a request may ask for, and the checks of it that all carriers share. They come before any memory for
// elements.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "mete/tensor.h"

namespace mete::serve {

struct RequestBounds {
  // Of the elements of all inputs of a request together, in memory. This value is a guess: 256 MiB hold 445
  // pictures of 3x224x224 floats.
  int64_t input_bytes = int64_t(256) << 20;
  // The most inputs, and the most outputs, of a request. This value is a guess: models have a few.
  int tensors = 256;
  // Of the JSON without the lists of elements. The JSON library takes up to twenty bytes for one of text.
  // This value is a guess: the names and shapes of 256 inputs take a tenth of it.
  int64_t json_bytes = int64_t(256) << 10;
};

// What a request says of an input before its elements.
struct InputForm {
  DType type = DType::kUnknown;  // kUnknown: BYTES
  Shape shape;
  int64_t elements = 0;
};

// Accepts the inputs of one request, one after the other, while their elements fit into the bound.
class InputMemory {
 public:
  explicit InputMemory(const RequestBounds& bounds) : left_(bounds.input_bytes) {}

  // Error INVALID_ARGUMENT for a datatype or dimensions that are none, RESOURCE_EXHAUSTED for too many
  // elements. A text counts as the std::string that it becomes; the body bounds its characters.
  InputForm Take(const std::string& where, std::string_view datatype, std::span<const int64_t> dims);

 private:
  int64_t left_;  // bytes
};

// The names of a request's inputs, or of its outputs.
class TensorNames {
 public:
  // `what` is "input" or "output". Returns where problems of this tensor are: "input 'x'". Error
  // INVALID_ARGUMENT if the name is empty or was there before.
  std::string Add(const char* what, const std::string& name);

 private:
  std::set<std::string> seen_;
};

// Throws INVALID_ARGUMENT: elements are taken from requests alone.
[[noreturn]] void RefuseSharedMemory(const std::string& where);

// Checks the name of a parameter of a request to load a model. Error INVALID_ARGUMENT for a configuration or
// a file, which would be another model: a server loads what its repository has.
void CheckLoadParameter(const std::string& name);

// Returns the beginning of a text of a request, in one line, for an error message.
std::string Shown(std::string_view text);

}  // namespace mete::serve
