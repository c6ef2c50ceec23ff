// Text to the tokens of a language model, and back: byte pair encoding with the scores of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mete {

class Tokenizer {
 public:
  // Reads llama2.c's form (.bin): the length of the longest piece, then for each piece its score, its length
  // and its bytes. Pieces 1 and 2 begin and end a text; "<0x41>" is a single byte. Errors: NOT_FOUND for a
  // missing file, DATA_LOSS for a damaged one.
  static Tokenizer Load(const std::string& path);
  static Tokenizer Parse(std::span<const std::byte> bytes, const std::string& name);

  static constexpr int64_t kBegin = 1, kEnd = 2;

  int64_t size() const { return int64_t(pieces_.size()); }
  // Returns whether a model that gives this token has come to the end of its text.
  static bool IsEnd(int64_t token) { return token == kBegin || token == kEnd; }

  // Returns the tokens of a text, any bytes. The first text of a conversation begins with kBegin and, as
  // SentencePiece does it, with a space. Error INVALID_ARGUMENT if the file has no piece for a byte.
  enum class Place { kFirst, kLater };
  std::vector<int64_t> Encode(std::string_view text, Place place) const;

  // Returns the bytes of a token; "" for those that begin and end a text, and for numbers that are no token.
  // A space that Encode() has put before the first token is left out.
  std::string TextOf(int64_t token, Place place) const;

 private:
  struct Piece {
    std::string text;
    float score = 0;
  };
  std::optional<int64_t> Find(const std::string& text) const;
  void AddCharacter(std::string_view character, std::vector<int64_t>& tokens) const;

  std::string name_;
  std::vector<Piece> pieces_;
  std::unordered_map<std::string, int64_t> numbers_;  // of pieces; the first of several equal ones
  std::vector<std::optional<uint8_t>> bytes_;         // of pieces that are a single byte
};

}  // namespace mete
