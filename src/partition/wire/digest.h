// What names a tensor's content among devices. Devices may not trust each other with more than their work, so it is a cryptographic one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "mete/tensor.h"

namespace mete {

using Digest = std::array<uint8_t, 32>;  // SHA-256

// Of type, shape and bytes: two tensors that have one are the same. Error where the system's library cannot.
Digest DigestOf(const ConstView& tensor);

std::string ToHex(const Digest& digest);

}  // namespace mete
