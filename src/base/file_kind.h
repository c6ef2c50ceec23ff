// The name of a file's format, from its first bytes, for error messages: a user who reads "WebP" knows how to
// convert the file, and a user who reads hexadecimal bytes does not. Mete does not choose decoders by this
// name.
#pragma once

#include <cstddef>
#include <span>

namespace mete {

struct FileKind {
  const char* name;              // "WebP", "HTML, a web page"
  const char* instead_of_model;  // advice if a model was expected: "torch.onnx.export() in Python"
  const char* instead_of_picture = "a copy as PNG";
};

// Returns null if no known format begins with these bytes. An ONNX model may begin with the same bytes as any
// of the formats, so the importer calls this function only after parsing has failed.
const FileKind* KindOfFile(std::span<const std::byte> bytes);

}  // namespace mete
