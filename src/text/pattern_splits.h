// Pre-tokenizers that divide at the matches of a pattern.
#pragma once

#include "text/word_splits.h"

namespace mete {

// Adds the split of a pre-tokenizer of the type Split, or of one that is a Split with a pattern of its own:
// Digits, Punctuation, Whitespace, WhitespaceSplit. Returns false, and adds none, for other types.
bool AddPatternSplit(const std::string& type, JsonPart& part, std::vector<WordSplit>& splits);

}  // namespace mete
