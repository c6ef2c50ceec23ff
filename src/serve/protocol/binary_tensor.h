// Elements as bytes: row-major and little-endian; a BOOL is one byte, 0 or 1, and an element of BYTES is its
// length in four bytes and its characters. REST has such bytes behind the JSON, gRPC in its raw contents.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "serve/protocol/inference.h"
#include "serve/protocol/request_bounds.h"

namespace mete::serve {

// Returns the tensor of `bytes`, without its name. Elements that are aligned to their size in memory are used
// where they lie, and `owner` keeps them; others are copied once, as are all without an owner. Error
// INVALID_ARGUMENT if the bytes are not those of the form.
NamedTensor TensorOfBytes(const std::string& where, const InputForm& form, std::span<const std::byte> bytes,
                          const std::shared_ptr<const void>& owner);

size_t ByteCount(const NamedTensor& tensor);  // of its elements as bytes
void AppendBytes(const NamedTensor& tensor, std::string& bytes);

}  // namespace mete::serve
