#include "text/byte_letters.h"

#include <array>

#include "text/characters.h"

namespace mete {
namespace {

constexpr char32_t kFirstOther = 256;

constexpr bool IsPrinted(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
}

constexpr std::array<char32_t, 256> kLetters = [] {
  std::array<char32_t, 256> letters{};
  char32_t next = kFirstOther;
  for (int byte = 0; byte < 256; ++byte) letters[size_t(byte)] = IsPrinted(byte) ? char32_t(byte) : next++;
  return letters;
}();

constexpr int kNone = -1;

int ByteOfLetter(char32_t letter) {
  if (letter < kFirstOther) return IsPrinted(int(letter)) ? int(letter) : kNone;
  for (size_t byte = 0; byte < kLetters.size(); ++byte)
    if (kLetters[byte] == letter) return int(byte);
  return kNone;
}

}  // namespace

std::string LettersOfBytes(std::string_view bytes) {
  std::string letters;
  for (const char byte : bytes) AppendCharacter(letters, kLetters[uint8_t(byte)]);
  return letters;
}

std::string BytesOfLetters(std::string_view letters) {
  std::string bytes;
  bool all = true;
  ForEachCharacter(letters, [&](char32_t code, std::string_view) {
    const int byte = ByteOfLetter(code);
    all &= byte != kNone;
    bytes += char(byte);
  });
  return all ? bytes : std::string(letters);
}

}  // namespace mete
