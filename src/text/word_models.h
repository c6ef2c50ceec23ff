// How a word becomes tokens: the model of a tokenizer.json.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_part.h"
#include "text/vocabulary.h"

namespace mete {

// Adds the tokens of a word, which is not empty. Error INVALID_ARGUMENT if a character has no token, and the
// file has none for such characters.
using WordModel = std::function<void(std::string_view word, std::vector<int64_t>& tokens)>;

// What models do with a text that no piece has. AddByteTokens(): adds a piece such as "<0x41>" for each byte,
// and returns whether all bytes have one. RefuseUnknown(): no token stands for it.
bool AddByteTokens(const Vocabulary& vocabulary, std::string_view bytes, std::vector<int64_t>& tokens);
[[noreturn]] void RefuseUnknown(const std::string& name, std::string_view text);

// Adds the model's pieces to `vocabulary`, and returns the model, which shares it; no function, and problems
// of the part, where it is not understood. `name` is the file's, for errors of the model.
WordModel ReadWordModel(JsonPart part, const std::shared_ptr<Vocabulary>& vocabulary,
                        const std::string& name);

}  // namespace mete
