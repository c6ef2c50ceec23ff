// SentencePiece's model of pieces with probabilities: Unigram of a tokenizer.json (T5, XLM-R).
#pragma once

#include "text/word_models.h"

namespace mete {

// As ReadWordModel(), which calls it: the word becomes those pieces whose logarithms of probabilities have
// the largest sum. A character that no piece has is unknown, and unknown characters side by side are one
// token.
WordModel ReadLikeliestPiecesModel(JsonPart& part, const std::shared_ptr<Vocabulary>& vocabulary,
                                   const std::string& name);

}  // namespace mete
