// Text to the tokens of a language model, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mete {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Reads a file: Hugging Face's tokenizer.json (json_tokenizer.h), or llama2.c's form (piece_tokenizer.h).
  // Errors: NOT_FOUND for a missing file, DATA_LOSS for a damaged one, INVALID_ARGUMENT with all parts that
  // are not understood.
  static std::unique_ptr<Tokenizer> Load(const std::string& path);
  static std::unique_ptr<Tokenizer> Parse(std::span<const std::byte> bytes, const std::string& name);

  virtual int64_t size() const = 0;  // one above the highest token
  // Returns whether a model that gives this token has come to the end of its text. Such a token has no text.
  virtual bool IsEnd(int64_t token) const = 0;

  // Returns the tokens of a text, any bytes. The first text of a conversation gets the space and the tokens
  // that the file wants around a text. Error INVALID_ARGUMENT if the file has no piece for a character,
  // RESOURCE_EXHAUSTED if the file's changes make the text longer than 8 MiB.
  enum class Place { kFirst, kLater };
  virtual std::vector<int64_t> Encode(std::string_view text, Place place) const = 0;

  // Returns the bytes of a token; "" for those that begin and end a text, and for numbers that are no token.
  // A space that Encode() has put before the first token is left out.
  virtual std::string TextOf(int64_t token, Place place) const = 0;

  // Returns the text of tokens from the first one on.
  std::string Decode(std::span<const int64_t> tokens) const;
};

}  // namespace mete
