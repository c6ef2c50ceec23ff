// The tokenizer of llama2.c's form: byte pair encoding with the scores of a file.
#pragma once

#include <optional>
#include <unordered_map>

#include "text/tokenizer.h"

namespace mete {

class PieceTokenizer : public Tokenizer {
 public:
  // Reads the form (.bin): the length of the longest piece, then for each piece its score, its length and its
  // bytes. Pieces 1 and 2 begin and end a text; "<0x41>" is a single byte. Error DATA_LOSS for a damaged
  // file.
  static PieceTokenizer Parse(std::span<const std::byte> bytes, const std::string& name);

  static constexpr int64_t kBegin = 1, kEnd = 2;

  int64_t size() const override { return int64_t(pieces_.size()); }
  bool IsEnd(int64_t token) const override { return token == kBegin || token == kEnd; }
  // The first text begins with kBegin and, as SentencePiece does it, with a space.
  std::vector<int64_t> Encode(std::string_view text, Place place) const override;
  std::string TextOf(int64_t token, Place place) const override;

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
