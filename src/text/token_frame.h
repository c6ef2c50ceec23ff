// The tokens around those of a text: the post-processor of a tokenizer.json.
#pragma once

#include <cstdint>
#include <vector>

#include "text/json_part.h"

namespace mete {

struct TokenFrame {
  std::vector<int64_t> before, behind;
};

// Adds the tokens of a post-processor for one text; those that are not understood are problems of the part.
void ReadTokenFrame(JsonPart part, TokenFrame& frame);

}  // namespace mete
