// What names a tensor's content among devices. Devices may not trust each other with more than their work, so
// it is a cryptographic one.
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

// Of type, shape and bytes: two tensors that have one are the same. Error where the system's library cannot.
Digest DigestOf(const ConstView& tensor);

// Digests of tensors that stay: weights of a model, of which several shares have the same ones. Keeps the
// tensors.
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

// As others send it. Error where it has another length.
Digest DigestFrom(std::string_view bytes);

std::string ToHex(const Digest& digest);

}  // namespace mete
