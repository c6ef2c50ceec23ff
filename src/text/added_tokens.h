// Tokens that stand for texts of their own, beside those of a model's words: "<s>", "[MASK]".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/prefix_list.h"

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
  // Tokens without a text are left out; of several with one text the first counts.
  TokenFinder() = default;
  explicit TokenFinder(std::span<const AddedToken> tokens);

  // Stretches without bytes are left out.
  std::vector<TextStretch> Divide(std::string_view text) const;

 private:
  const AddedToken* TokenAt(std::string_view text) const;

  std::vector<AddedToken> tokens_;
  PrefixList texts_;  // a number is a place in tokens_
};

}  // namespace mete
