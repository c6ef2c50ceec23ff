#include "text/characters.h"

#include <algorithm>
#include <unordered_map>

#include "text/unicode_tables.h"

namespace mete {
namespace {

// What each character of a table becomes.
using CharacterChanges = std::unordered_map<char32_t, std::string>;

CharacterChanges ReadChanges(std::span<const uint32_t> table) {
  CharacterChanges changes;
  std::string* to = nullptr;
  for (const uint32_t number : table) {
    if (number & kChangedCharacter) to = &changes[number & ~kChangedCharacter];
    else AppendCharacter(*to, number);
  }
  return changes;
}

void AppendChanged(std::string& text, char32_t code, const CharacterChanges& changes) {
  if (const auto found = changes.find(code); found != changes.end()) text += found->second;
  else AppendCharacter(text, code);
}

// The syllables of Korean are their letters by arithmetic (The Unicode Standard, section 3.12).
constexpr char32_t kFirstSyllable = 0xac00, kLastSyllable = 0xd7a3, kLead = 0x1100, kVowel = 0x1161,
                   kTail = 0x11a7;
constexpr char32_t kVowels = 21, kTails = 28;

void AppendSyllable(std::string& text, char32_t code) {
  const char32_t number = code - kFirstSyllable, tail = number % kTails;
  AppendCharacter(text, kLead + number / (kVowels * kTails));
  AppendCharacter(text, kVowel + number / kTails % kVowels);
  if (tail > 0) AppendCharacter(text, kTail + tail);
}

}  // namespace

Character FirstCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return uint8_t(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  if (size == 1 || size > text.size()) return {};
  char32_t code = lead & (0x7f >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, size};
}

void AppendCharacter(std::string& text, char32_t code) {
  const auto tail = [&](int shift) { text += char(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    text += char(code);
  } else if (code < 0x800) {
    text += char(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    text += char(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    text += char(0xf0 | (code >> 18 & 7));
    tail(12);
    tail(6);
    tail(0);
  }
}

CharacterKind KindOf(char32_t code) {
  if (code == kNoCharacter) return CharacterKind::kOther;
  const auto runs = KindRuns();
  const auto behind = std::upper_bound(runs.begin(), runs.end(), code << kKindBits | kKindMask);
  return behind == runs.begin() ? CharacterKind::kOther : CharacterKind(behind[-1] & kKindMask);
}

// The property White_Space.
bool IsSpace(char32_t code) {
  return (code >= 9 && code <= 13) || code == ' ' || code == 0x85 || code == 0xa0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
         code == 0x205f || code == 0x3000;
}

void AppendWithoutMarks(std::string& text, char32_t code) {
  static const CharacterChanges changes = ReadChanges(DecomposedCharacters());
  if (code >= kFirstSyllable && code <= kLastSyllable) return AppendSyllable(text, code);
  if (KindOf(code) != CharacterKind::kMark) AppendChanged(text, code, changes);
}

void AppendLowercase(std::string& text, char32_t code) {
  static const CharacterChanges changes = ReadChanges(LowercaseCharacters());
  AppendChanged(text, code, changes);
}

}  // namespace mete
