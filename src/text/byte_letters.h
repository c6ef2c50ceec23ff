// Bytes as characters that are printed: the alphabet of byte-level vocabularies, which is GPT-2's.
#pragma once

#include <string>
#include <string_view>

namespace mete {

// Returns a character for each byte: itself where Latin-1 prints it, or the next of those from 256 on.
std::string LettersOfBytes(std::string_view bytes);
// The reverse. A text with any other character stays as it is, as that of an added token.
std::string BytesOfLetters(std::string_view letters);

}  // namespace mete
