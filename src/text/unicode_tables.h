// Tables of Unicode 14, which tools/unicode_tables.py makes of Python's module unicodedata.
#pragma once

#include <cstdint>
#include <span>

namespace mete {

// A first character above these bits, and its Category, which holds until the next number's character.
inline constexpr int kCategoryBits = 5;
inline constexpr uint32_t kCategoryMask = (1 << kCategoryBits) - 1;
std::span<const uint32_t> CategoryRuns();

// A character with this bit, and then those that it becomes.
inline constexpr uint32_t kChangedCharacter = 0x80000000;
std::span<const uint32_t> DecomposedCharacters();  // NFD without the category Mn; without Korean
std::span<const uint32_t> LowercaseCharacters();

}  // namespace mete
