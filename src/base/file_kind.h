// Names the format of a file by its first bytes, for error messages: a user who is told "WebP" knows what to do, one who is told bytes does
// not. Not for choosing a decoder.
#pragma once

#include <cstddef>
#include <span>

namespace mete {

struct FileKind {
  const char* name;              // "WebP", "HTML, a web page"
  const char* instead_of_model;  // what to try where a model was expected: "torch.onnx.export() in Python"
  const char* instead_of_picture = "a copy as PNG";
};

// Null where the bytes begin like nothing that is known. An ONNX model may have any of these beginnings: whoever expects one looks here only
// after it could not be parsed.
const FileKind* KindOfFile(std::span<const std::byte> bytes);

}  // namespace mete
