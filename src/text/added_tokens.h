// Tokens that stand for texts of their own, beside those of a model's words: "<s>", "[MASK]".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mete {

struct AddedToken {
  int64_t number = 0;
  std::string text;
  bool takes_space_before = false, takes_space_behind = false;
};

// A stretch of text, or a token in it.
struct TextStretch {
  std::string_view text;
  std::optional<int64_t> token = {};
};

// Finds tokens in texts: from the left, and of several at one place the longest.
class TokenFinder {
 public:
  // Tokens without a text are left out.
  TokenFinder() = default;
  explicit TokenFinder(std::span<const AddedToken> tokens);

  // Stretches without bytes are left out.
  std::vector<TextStretch> Divide(std::string_view text) const;

 private:
  const AddedToken* TokenAt(std::string_view text) const;

  std::vector<AddedToken> tokens_[256];  // by their first byte, the longest first
};

}  // namespace mete
