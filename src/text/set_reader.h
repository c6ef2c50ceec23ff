// Reads sets of characters in regular expressions: a character, an escape such as \s or \p{L}, or a list in
// brackets.
#pragma once

#include "text/character_set.h"
#include "text/pattern_text.h"

namespace mete {

// Reads the set that the text begins with; every character that has no other meaning is one. Throws
// PatternProblem.
CharacterSet ReadCharacterSet(PatternText& text, const PatternFlags& flags);

}  // namespace mete
