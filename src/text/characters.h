// Characters of texts in UTF-8, and what Unicode says of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mete {

inline constexpr char32_t kNoCharacter = 0xffffffff;  // of a byte that is no part of UTF-8

struct Character {
  char32_t code = kNoCharacter;
  size_t size = 1;  // bytes
};

// Returns the first character of a text that is not empty. A byte that is no UTF-8 is a character of its own.
Character FirstCharacter(std::string_view text);
void AppendCharacter(std::string& text, char32_t code);

// Calls `use(code, bytes)` for each character.
template <class F>
void ForEachCharacter(std::string_view text, F&& use) {
  while (!text.empty()) {
    const Character c = FirstCharacter(text);
    use(c.code, text.substr(0, c.size));
    text.remove_prefix(c.size);
  }
}

// Unicode's general categories; a byte that is no UTF-8 is of none of the characters (Cn).
enum class Category : uint8_t {
  kLu,
  kLl,
  kLt,
  kLm,
  kLo,
  kMn,
  kMc,
  kMe,
  kNd,
  kNl,
  kNo,
  kPc,
  kPd,
  kPs,
  kPe,
  kPi,
  kPf,
  kPo,
  kSm,
  kSc,
  kSk,
  kSo,
  kZs,
  kZl,
  kZp,
  kCc,
  kCf,
  kCs,
  kCo,
  kCn
};
Category CategoryOf(char32_t code);
// A bit for each category that begins with a name, such as "L" or "Lu"; 0: none does.
using Categories = uint32_t;
Categories CategoriesOf(std::string_view name);

// The categories as far as WordPiece and GPT-2 tell them apart: L, N, Mn, P, and of C those that are
// characters (Cc, Cf, Co). The others are symbols, separators, and what has no character yet.
enum class CharacterKind : uint8_t { kOther, kLetter, kNumber, kMark, kPunctuation, kControl };
CharacterKind KindOf(char32_t code);
// The property White_Space.
struct CharacterRange {
  char32_t first, last;
};
std::span<const CharacterRange> SpaceRanges();
bool IsSpace(char32_t code);
size_t SpaceAtBegin(std::string_view text);  // bytes
std::string_view WithoutSpaceAtEnd(std::string_view text);

// The character decomposed, without the marks that take no place of their own: "e" for "é".
void AppendWithoutMarks(std::string& text, char32_t code);
void AppendLowercase(std::string& text, char32_t code);
// The character that stands for all its cases, as regular expressions that ignore case compare them. Where
// the lower case is several characters, it is the character itself.
char32_t WithoutCase(char32_t code);

}  // namespace mete
