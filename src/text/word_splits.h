// How a text is divided into words, each of which becomes tokens by itself: the pre-tokenizer of a
// tokenizer.json.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_part.h"
#include "text/text_changes.h"

namespace mete {

// Divides a word further. The place of the context is that of its first byte.
using WordSplit =
    std::function<std::vector<std::string>(std::string_view word, const StretchContext& context)>;

// Adds the splits of a pre-tokenizer, in their order; those that are not understood are problems of the part.
void ReadWordSplits(JsonPart part, std::vector<WordSplit>& splits);
std::vector<std::string> WordsOf(const std::string& text, const StretchContext& context,
                                 const std::vector<WordSplit>& splits);

// GPT-2's words: 's, 't, 're, 've, 'm, 'll and 'd; a run of letters, of numbers or of other characters, with
// the space before it; and the space that is left.
std::vector<std::string_view> SplitAsGpt2(std::string_view text);

}  // namespace mete
