// Reads a line of text from left to right, token by token, and reports what is wrong with its column.
#pragma once

#include <charconv>
#include <cctype>
#include <string>
#include <string_view>

#include "base/error.h"

namespace mete {

class LineReader {
 public:
  LineReader(const std::string& where, std::string_view text) : where_(where), text_(text) {}

  bool AtEnd() {
    SkipSpaces();
    return at_ == text_.size();
  }
  std::string_view Before() const { return text_.substr(0, at_); }
  std::string_view Rest() {
    SkipSpaces();
    return text_.substr(at_);
  }

  // Takes `token` if the line goes on with it.
  bool Take(std::string_view token) {
    SkipSpaces();
    return TakeNext(token);
  }
  // The same, without spaces before it.
  bool TakeNext(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void Need(std::string_view token) {
    if (!Take(token)) Bad("a character is missing", fmt::format("'{}'", token));
  }

  // Returns the name that the line goes on with: letters, digits, dots and underscores; empty if there is
  // none.
  std::string_view PeekWord() {
    SkipSpaces();
    size_t end = at_;
    while (end < text_.size() && IsOfWord(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  std::string Word(std::string_view what) {
    const std::string_view word = PeekWord();
    if (word.empty()) Bad("a name is missing", what);
    at_ += word.size();
    return std::string(word);
  }

  // Returns whether the line goes on with an integer, and not with another number.
  bool AtWhole() {
    SkipSpaces();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    const bool ends = end == text_.data() + text_.size() || (*end != '.' && *end != 'e');
    return error == std::errc() && ends;
  }
  int64_t Whole(std::string_view what) { return Number<int64_t>(what); }
  double Real(std::string_view what) { return Number<double>(what); }

  // Returns the text up to `end`, which is taken too.
  std::string Until(char end) {
    const size_t to = text_.find(end, at_);
    if (to == text_.npos) Bad("a text does not end", fmt::format("'{}'", end));
    const std::string_view text = text_.substr(at_, to - at_);
    at_ = to + 1;
    return std::string(text);
  }

  [[noreturn]] void Bad(std::string_view what, std::string_view expected) const {
    const std::string_view rest = text_.substr(at_);
    Invalid(where_, "{} at column {}; got '{}', expected {}", what, at_ + 1,
            rest.empty() ? "the end of the line" : Printable(std::string(rest.substr(0, 20))), expected);
  }

 private:
  static bool IsOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_'; }

  void SkipSpaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  template <class T>
  T Number(std::string_view what) {
    SkipSpaces();
    T value{};
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) Bad("a number is missing or out of range", what);
    at_ = size_t(end - text_.data());
    return value;
  }

  const std::string where_;
  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace mete
