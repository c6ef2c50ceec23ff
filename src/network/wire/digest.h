// Digests that name the content of a tensor among devices. The digest is a cryptographic one, because a
// device that is trusted with work must not be able to pass off one tensor as another.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "mete/tensor.h"

namespace mete {

using Digest = std::array<uint8_t, 32>;  // SHA-256

// Returns the digest of the tensor's type, shape and bytes: two tensors with one digest are equal. Error
// INTERNAL where OpenSSL has no SHA-256.
Digest DigestOf(const ConstView& tensor);

// Caches the digests of tensors that live long: weights of a model, which several shares use. Keeps the
// tensors alive.
class DigestMemo {
 public:
  const Digest& Of(const Tensor& tensor);

 private:
  struct Known {
    Tensor tensor;
    Digest digest;
  };
  std::map<std::tuple<const void*, DType, std::string>, Known> known_;  // by address, type and shape
};

Digest DigestOfText(std::string_view text);

// Converts the bytes of a digest that another device sent. Error INVALID_ARGUMENT where they have another
// length.
Digest DigestFrom(std::string_view bytes);

std::string ToHex(const Digest& digest);

}  // namespace mete
