// What a normalizer, a pre-tokenizer or a decoder looks for in a text: a text, or a regular expression.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_part.h"
#include "text/pattern_program.h"

namespace mete {

// The steps that all patterns may still take for one text, whatever its words. Error RESOURCE_EXHAUSTED
// behind the last one.
struct PatternSteps {
  static constexpr size_t kMost = 1'000'000'000;  // a guess: some seconds
  size_t left = kMost;
};

class TextPattern {
 public:
  struct Match {
    size_t begin = 0, end = 0;  // bytes
  };

  explicit TextPattern(PatternProgram program)
      : program_(std::make_shared<const PatternProgram>(std::move(program))) {}

  // Returns all matches, each behind the one before it; an empty one is not at the end of the one before it.
  // Error RESOURCE_EXHAUSTED if the text takes more steps or memory than patterns need that do not try
  // everything.
  std::vector<Match> FindAll(std::string_view text, PatternSteps& steps) const;
  // Returns the text with `to` for each match.
  std::string Replaced(std::string_view text, const std::string& to, PatternSteps& steps) const;

 private:
  std::shared_ptr<const PatternProgram> program_;
};

// Reads {"String": ...} or {"Regex": ...}. Nothing, and problems of the part: it is neither.
std::optional<TextPattern> ReadPattern(JsonPart part);

}  // namespace mete
