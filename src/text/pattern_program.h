// A regular expression as a program of steps, which text_pattern.h runs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/character_set.h"

namespace mete {

struct PatternStep {
  enum class Kind : uint8_t {
    kSet,        // a character of the set `first`
    kTry,        // goes on `first` steps further, and if that fails `second` steps further
    kJump,       // goes on `first` steps further
    kAtomic,     // runs the steps behind it up to kDone, whose first way counts; then goes on as kJump
    kAhead,      // likewise, and goes back to where the text was
    kNotAhead,   // goes on where those steps fail
    kLineBegin,  // of the text, or behind a line feed that does not end it
    kLineEnd,    // of the text, or before a line feed
    kTextBegin,
    kTextEnd,
    kDone
  };
  Kind kind = Kind::kDone;
  int32_t first = 0, second = 0;
};

struct PatternProgram {
  std::vector<PatternStep> steps;
  std::vector<CharacterSet> sets;
};

// Reads a regular expression in Oniguruma's dialect of Ruby, as far as patterns of tokenizers have it:
// characters, sets (set_reader.h), groups, (?i), (?m), alternatives, repeats (greedy, lazy, possessive),
// look-ahead, (?>...), ^ and $ of lines, \A, \z. With (?i) a letter that other cases have as several, such
// as the German sharp s, has one case. Throws PatternProblem (pattern_text.h) for the rest.
PatternProgram ReadExpression(std::string_view expression);

}  // namespace mete
