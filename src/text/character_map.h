// SentencePiece's table of characters and what they become: the normalizer Precompiled of a tokenizer.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_changes.h"

namespace mete {

class CharacterMap {
 public:
  // Reads the size of a trie in bytes, the trie, and texts that end with a byte 0; numbers are little-endian.
  // The trie is a double array of Darts' form: of a node with the offset o, the node of a byte b is at the
  // place of the node, exclusive-or o, exclusive-or b. Nothing: the bytes are too short.
  static std::optional<CharacterMap> Parse(std::string_view bytes);

  // Returns the text with the longest sequence at each place changed, and characters that begin none as they
  // are. Error DATA_LOSS if the trie leads out of the texts.
  std::string Changed(std::string_view text) const;

 private:
  struct Found {
    size_t size = 0;    // bytes of a text
    uint32_t text = 0;  // where in texts_ is what they become
  };
  Found Longest(std::string_view text) const;
  std::string_view TextAt(uint32_t place) const;

  std::vector<uint32_t> units_;
  std::string texts_;
};

// Adds the change of the part, which has the map in base 64; no map leaves texts as they are.
void AddCharacterMap(JsonPart& part, std::vector<TextChange>& changes);

}  // namespace mete
