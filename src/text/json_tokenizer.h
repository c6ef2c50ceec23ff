// Tokenizers of Hugging Face's form, tokenizer.json: byte pair encoding of bytes (GPT-2's kind) or of
// characters with a token for each other byte (Llama's), and WordPiece (BERT's).
#pragma once

#include <unordered_set>

#include "text/added_tokens.h"
#include "text/piece_texts.h"
#include "text/text_changes.h"
#include "text/token_frame.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"
#include "text/word_models.h"
#include "text/word_splits.h"

namespace mete {

class JsonTokenizer : public Tokenizer {
 public:
  // "truncation" and "padding" are about batches of a program, and are left out. Errors: DATA_LOSS for a text
  // that is no JSON, INVALID_ARGUMENT with all parts that are not understood.
  static JsonTokenizer Parse(std::string_view text, const std::string& name);

  int64_t size() const override { return vocabulary_->next(); }
  bool IsEnd(int64_t token) const override { return special_.contains(token); }  // the file names no end
  std::vector<int64_t> Encode(std::string_view text, Place place) const override;
  std::string TextOf(int64_t token, Place place) const override;

 private:
  void Read(JsonPart file, const std::string& name);
  void ReadAddedTokens(JsonPart& file);
  void AddWords(const std::string& text, const StretchContext& context, std::vector<int64_t>& tokens) const;

  std::shared_ptr<Vocabulary> vocabulary_ = std::make_shared<Vocabulary>();
  std::vector<TextChange> text_changes_;
  std::vector<WordSplit> word_splits_;
  WordModel model_;
  TokenFrame frame_;
  std::vector<PieceChange> piece_changes_;
  // Those that are found in the text as it is, and those in the normalized text.
  TokenFinder raw_tokens_, normalized_tokens_;
  std::unordered_set<int64_t> special_;
};

}  // namespace mete
