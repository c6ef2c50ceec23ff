// How a text is changed before it is divided into words: the normalizer of a tokenizer.json.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_part.h"

namespace mete {

// Where a stretch of text lies that has no added token in it.
enum class StretchPlace {
  kFirst,     // at the begin of the first text
  kGoesOn,    // at the begin of a text that goes on: it gets no space in front
  kElsewhere  // behind an added token
};

struct PatternSteps;  // text/text_pattern.h

// What is known of a stretch besides its bytes.
struct StretchContext {
  StretchPlace place;
  PatternSteps& steps;  // of the whole text
};

using TextChange = std::function<std::string(std::string_view text, const StretchContext& context)>;

// Adds the changes of a normalizer, in their order; those that are not understood are problems of the part.
void ReadTextChanges(JsonPart part, std::vector<TextChange>& changes);
std::string Changed(std::string text, const StretchContext& context, const std::vector<TextChange>& changes);

// Error RESOURCE_EXHAUSTED if the changes of a hostile file, each of which makes a text longer, have made it
// this long.
void CheckTextSize(size_t bytes);

// Returns the text with each `from`, which is not empty, replaced.
std::string Replaced(std::string_view text, const std::string& from, const std::string& to);

}  // namespace mete
