// Pieces that are a single byte: "<0x0A>".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mete {

std::optional<uint8_t> ByteOf(std::string_view piece);

}  // namespace mete
