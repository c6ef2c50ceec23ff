#include "text/added_tokens.h"

#include "text/characters.h"

namespace mete {
TokenFinder::TokenFinder(std::span<const AddedToken> tokens) : tokens_(tokens.begin(), tokens.end()) {
  std::vector<PrefixList::Piece> texts;
  for (const AddedToken& token : tokens_) texts.push_back({token.text, int64_t(texts.size())});
  texts_ = PrefixList(std::move(texts));
}

const AddedToken* TokenFinder::TokenAt(std::string_view text) const {
  const AddedToken* longest = nullptr;
  texts_.ForEach(text, [&](const PrefixList::Piece& piece) { longest = &tokens_[size_t(piece.number)]; });
  return longest;
}

std::vector<TextStretch> TokenFinder::Divide(std::string_view text) const {
  std::vector<TextStretch> stretches;
  const auto add = [&](std::string_view stretch) {
    if (!stretch.empty()) stretches.push_back({stretch});
  };
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token = TokenAt(text.substr(at));
    if (!token) {
      ++at;
      continue;
    }
    const std::string_view before = text.substr(0, at);
    add(token->takes_space_before ? WithoutSpaceAtEnd(before) : before);
    stretches.push_back({token->text, token->number});
    text.remove_prefix(at + token->text.size());
    if (token->takes_space_behind) text.remove_prefix(SpaceAtBegin(text));
    at = 0;
  }
  add(text);
  return stretches;
}

}  // namespace mete
