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

Category CategoryOf(char32_t code) {
  if (code == kNoCharacter) return Category::kCn;
  const auto runs = CategoryRuns();
  const auto behind = std::upper_bound(runs.begin(), runs.end(), code << kCategoryBits | kCategoryMask);
  return Category(behind[-1] & kCategoryMask);  // the first run begins at 0
}

Categories CategoriesOf(std::string_view name) {
  constexpr std::string_view kNames = "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCoCn";
  Categories bits = 0;
  for (size_t i = 0; i < kNames.size() / 2; ++i)
    if (!name.empty() && kNames.substr(2 * i, 2).starts_with(name)) bits |= 1u << i;
  return bits;
}

CharacterKind KindOf(char32_t code) {
  switch (CategoryOf(code)) {
    case Category::kLu:
    case Category::kLl:
    case Category::kLt:
    case Category::kLm:
    case Category::kLo: return CharacterKind::kLetter;
    case Category::kNd:
    case Category::kNl:
    case Category::kNo: return CharacterKind::kNumber;
    case Category::kMn: return CharacterKind::kMark;
    case Category::kPc:
    case Category::kPd:
    case Category::kPs:
    case Category::kPe:
    case Category::kPi:
    case Category::kPf:
    case Category::kPo: return CharacterKind::kPunctuation;
    case Category::kCc:
    case Category::kCf:
    case Category::kCo: return CharacterKind::kControl;
    default: return CharacterKind::kOther;
  }
}

std::span<const CharacterRange> SpaceRanges() {
  static constexpr CharacterRange kRanges[] = {
      {9, 13},          {' ', ' '},       {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
      {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};
  return kRanges;
}

bool IsSpace(char32_t code) {
  for (const CharacterRange& range : SpaceRanges())
    if (code <= range.last) return code >= range.first;
  return false;
}

size_t SpaceAtBegin(std::string_view text) {
  size_t size = 0;
  while (size < text.size()) {
    const Character c = FirstCharacter(text.substr(size));
    if (!IsSpace(c.code)) break;
    size += c.size;
  }
  return size;
}

std::string_view WithoutSpaceAtEnd(std::string_view text) {
  size_t end = 0, at = 0;
  ForEachCharacter(text, [&](char32_t code, std::string_view bytes) {
    at += bytes.size();
    if (!IsSpace(code)) end = at;
  });
  return text.substr(0, end);
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

char32_t WithoutCase(char32_t code) {
  // Letters of lower case that are another one's (CaseFolding.txt of Unicode 14), in their order.
  static constexpr std::pair<char32_t, char32_t> kForms[] = {
      {0xb5, 0x3bc},   {0x17f, 0x73},    {0x345, 0x3b9},   {0x3c2, 0x3c3},  {0x3d0, 0x3b2},  {0x3d1, 0x3b8},
      {0x3d5, 0x3c6},  {0x3d6, 0x3c0},   {0x3f0, 0x3ba},   {0x3f1, 0x3c1},  {0x3f5, 0x3b5},  {0x1c80, 0x432},
      {0x1c81, 0x434}, {0x1c82, 0x43e},  {0x1c83, 0x441},  {0x1c84, 0x442}, {0x1c85, 0x442}, {0x1c86, 0x44a},
      {0x1c87, 0x463}, {0x1c88, 0xa64b}, {0x1e9b, 0x1e61}, {0x1fbe, 0x3b9}};
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code;
  if (code >= 0x2e80 && code < 0xa640) return code;  // most characters of Chinese, which have no case
  const auto form = std::lower_bound(std::begin(kForms), std::end(kForms), code,
                                     [](const auto& of, char32_t wanted) { return of.first < wanted; });
  if (form != std::end(kForms) && form->first == code) return form->second;
  std::string lower;
  AppendLowercase(lower, code);
  const Character first = FirstCharacter(lower);
  return first.size == lower.size() ? first.code : code;
}

}  // namespace mete
