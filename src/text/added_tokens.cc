#include "text/added_tokens.h"

#include <algorithm>

#include "text/characters.h"

namespace mete {
namespace {

size_t SpaceAtBegin(std::string_view text) {
  size_t size = 0;
  while (size < text.size()) {
    const Character c = FirstCharacter(text.substr(size));
    if (!IsSpace(c.code)) break;
    size += c.size;
  }
  return size;
}

// Returns the text without the space at its end.
std::string_view WithoutSpaceAtEnd(std::string_view text) {
  size_t end = 0, at = 0;
  ForEachCharacter(text, [&](char32_t code, std::string_view bytes) {
    at += bytes.size();
    if (!IsSpace(code)) end = at;
  });
  return text.substr(0, end);
}

}  // namespace

TokenFinder::TokenFinder(std::span<const AddedToken> tokens) {
  for (const AddedToken& token : tokens)
    if (!token.text.empty()) tokens_[uint8_t(token.text[0])].push_back(token);
  for (auto& list : tokens_)
    std::stable_sort(list.begin(), list.end(),
                     [](const AddedToken& a, const AddedToken& b) { return a.text.size() > b.text.size(); });
}

const AddedToken* TokenFinder::TokenAt(std::string_view text) const {
  for (const AddedToken& token : tokens_[uint8_t(text[0])])
    if (text.starts_with(token.text)) return &token;
  return nullptr;
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
