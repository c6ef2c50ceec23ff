#include "text/character_map.h"

#include <memory>

#include "base/error.h"
#include "text/characters.h"

namespace mete {
namespace {

uint32_t NumberAt(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number |= uint32_t(uint8_t(bytes[at + i])) << (8 * i);
  return number;
}

// Fields of a unit of the double array.
bool HasValue(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t ValueOf(uint32_t unit) { return unit & 0x7fffffff; }
uint32_t LabelOf(uint32_t unit) { return unit & 0x800000ff; }
uint32_t OffsetOf(uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }

std::optional<uint32_t> SixBits(char c) {
  constexpr std::string_view kSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t place = kSigns.find(c);
  return place == kSigns.npos ? std::nullopt : std::optional(uint32_t(place));
}

// Nothing: the text is not of base 64.
std::optional<std::string> BytesOfBase64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto six = SixBits(c);
    if (!six) return std::nullopt;
    bits = bits << 6 | *six;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += char(bits >> count & 0xff);
  }
  return bytes;
}

}  // namespace

std::optional<CharacterMap> CharacterMap::Parse(std::string_view bytes) {
  if (bytes.size() < 4) return std::nullopt;
  const uint32_t size = NumberAt(bytes, 0);
  bytes.remove_prefix(4);
  if (size > bytes.size() || size % 4 != 0 || size == 0) return std::nullopt;
  CharacterMap map;
  for (size_t at = 0; at < size; at += 4) map.units_.push_back(NumberAt(bytes, at));
  map.texts_ = bytes.substr(size);
  return map;
}

CharacterMap::Found CharacterMap::Longest(std::string_view text) const {
  constexpr size_t kMost =
      256;  // a guess: sequences have less than 20 bytes, and a loop in a trie has no end
  Found longest;
  uint32_t place = OffsetOf(units_[0]);
  for (size_t i = 0; i < std::min(text.size(), kMost) && text[i] != 0; ++i) {
    place ^= uint8_t(text[i]);
    if (place >= units_.size() || LabelOf(units_[place]) != uint8_t(text[i])) break;
    const bool has_value = HasValue(units_[place]);
    place ^= OffsetOf(units_[place]);
    if (place >= units_.size()) break;
    if (has_value) longest = {i + 1, ValueOf(units_[place])};
  }
  return longest;
}

std::string_view CharacterMap::TextAt(uint32_t place) const {
  if (place >= texts_.size())
    Fail(Code::kDataLoss, "tokenizer",
         "the map of characters leads out of its texts; got place {}, expected one below {}; try another "
         "tokenizer",
         place, texts_.size());
  const size_t end = texts_.find('\0', place);
  return std::string_view(texts_).substr(place, end == texts_.npos ? end : end - place);
}

std::string CharacterMap::Changed(std::string_view text) const {
  std::string changed;
  while (!text.empty()) {
    const Found found = Longest(text);
    const size_t size = found.size > 0 ? found.size : FirstCharacter(text).size;
    changed += found.size > 0 ? TextAt(found.text) : text.substr(0, size);
    CheckTextSize(changed.size());
    text.remove_prefix(size);
  }
  return changed;
}

void AddCharacterMap(JsonPart& part, std::vector<TextChange>& changes) {
  const std::string text = part.Text("precompiled_charsmap");
  if (text.empty()) return;
  const auto bytes = BytesOfBase64(text);
  const auto map = bytes ? CharacterMap::Parse(*bytes) : std::nullopt;
  if (!map)
    return part.Refuse("'precompiled_charsmap' is no map of characters", Shown(text),
                       "base 64 of a trie's size, the trie and texts");
  changes.push_back([map = std::make_shared<const CharacterMap>(*map)](
                        std::string_view changed, const StretchContext&) { return map->Changed(changed); });
}

}  // namespace mete
