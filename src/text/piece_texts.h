// What a token's piece is in a text: the decoder of a tokenizer.json.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "text/json_part.h"

namespace mete {

// Changes a piece towards its text. `is_first`: no text is before it.
using PieceChange = std::function<std::string(std::string piece, bool is_first)>;

// Adds the changes of a decoder, in their order; those that are not understood are problems of the part.
void ReadPieceChanges(JsonPart part, std::vector<PieceChange>& changes);

}  // namespace mete
