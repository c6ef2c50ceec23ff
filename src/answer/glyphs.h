// Letters of 5x7 pixels for names on pictures.
#pragma once

#include <array>
#include <cstdint>

namespace mete {

inline constexpr int kGlyphWidth = 5, kGlyphHeight = 7;

// The rows of a letter from the top; bit 4 is the leftmost pixel. Small letters look like capitals, and what
// has no letter is a question mark.
const std::array<uint8_t, kGlyphHeight>& GlyphOf(char c);

}  // namespace mete
