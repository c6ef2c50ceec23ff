// The text of a regular expression, which its readers take from the left.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "text/characters.h"

namespace mete {

// What is thrown: a regular expression is none, or has what Mete does not know.
struct PatternProblem {
  std::string what, got, expected;
};

class PatternText {
 public:
  explicit PatternText(std::string_view text) : text_(text) {}

  bool done() const { return at_ == text_.size(); }
  size_t place() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  bool Begins(std::string_view with) const { return rest().starts_with(with); }

  bool Take(std::string_view text) {
    if (!Begins(text)) return false;
    at_ += text.size();
    return true;
  }
  char32_t TakeCharacter() {
    if (done()) Refuse("a regular expression ends too early", "another character");
    const Character c = FirstCharacter(rest());
    at_ += c.size;
    return c.code;
  }
  void GoBackTo(size_t place) { at_ = place; }

  [[noreturn]] void Refuse(const char* what, const char* expected) const {
    constexpr size_t kMost = 20;  // a guess: enough to find the place
    throw PatternProblem{what, fmt::format("'{}' at its byte {}", rest().substr(0, kMost), at_), expected};
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

struct PatternFlags {
  bool ignores_case = false;
  bool dot_is_any = false;  // line feeds, too
};

}  // namespace mete
