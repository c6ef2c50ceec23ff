#include "text/json_tokenizer.h"

#include "base/error.h"
#include "base/json.h"
#include "text/text_pattern.h"

namespace mete {
namespace {

TextJson ParseText(std::string_view text, const std::string& name) {
  CheckJsonDepth(text, name);
  try {
    return TextJson::parse(text);
  } catch (const TextJson::exception& e) {
    Fail(Code::kDataLoss, name,
         "not a tokenizer; got JSON that is damaged: {}, expected a tokenizer.json; try the one that belongs "
         "to "
         "the model",
         Printable(e.what()));
  }
}

}  // namespace

JsonTokenizer JsonTokenizer::Parse(std::string_view text, const std::string& name) {
  const TextJson json = ParseText(text, name);
  SharedProblems problems;
  JsonTokenizer tokenizer;
  tokenizer.Read(JsonPart(json, name + ":", problems), name);
  problems.ThrowIfAny();
  return tokenizer;
}

void JsonTokenizer::Read(JsonPart file, const std::string& name) {
  file.Leave({"version", "truncation", "padding"});
  model_ = ReadWordModel(file.Part("model"), vocabulary_, name);
  ReadTextChanges(file.Part("normalizer"), text_changes_);
  ReadWordSplits(file.Part("pre_tokenizer"), word_splits_);
  ReadTokenFrame(file.Part("post_processor"), frame_);
  ReadPieceChanges(file.Part("decoder"), piece_changes_);
  ReadAddedTokens(file);
  file.RefuseOthers();
}

void JsonTokenizer::ReadAddedTokens(JsonPart& file) {
  std::vector<AddedToken> raw, normalized;
  PatternSteps steps;
  for (JsonPart& part : file.Parts("added_tokens")) {
    const bool special = part.Flag("special", false);
    if (part.Value("id").is_null() || part.Text("content").empty()) {
      part.Refuse("an added token lacks its number or its text", "null", "'id' and 'content'");
      continue;
    }
    AddedToken token{.number = part.Number("id", 0),
                     .text = part.Text("content"),
                     .takes_space_before = part.Flag("lstrip", false),
                     .takes_space_behind = part.Flag("rstrip", false)};
    CheckPieceSize(part, token.text);
    if (part.Flag("single_word", false))
      part.Refuse("a token is found as a whole word alone", "'single_word'", "false");
    if (special) special_.insert(token.number);
    vocabulary_->Add(token.text, token.number);
    if (part.Flag("normalized", !special)) {
      token.text = Changed(token.text, {StretchPlace::kElsewhere, steps}, text_changes_);
      CheckPieceSize(part, token.text);
      normalized.push_back(token);
    } else {
      raw.push_back(token);
    }
    part.RefuseOthers();
  }
  raw_tokens_ = TokenFinder(raw);
  normalized_tokens_ = TokenFinder(normalized);
}

void JsonTokenizer::AddWords(const std::string& text, const StretchContext& context,
                             std::vector<int64_t>& tokens) const {
  for (const std::string& word : WordsOf(text, context, word_splits_))
    if (!word.empty()) model_(word, tokens);
}

std::vector<int64_t> JsonTokenizer::Encode(std::string_view text, Place place) const {
  std::vector<int64_t> tokens;
  if (place == Place::kFirst) tokens = frame_.before;
  PatternSteps steps;
  StretchPlace at = place == Place::kFirst ? StretchPlace::kFirst : StretchPlace::kGoesOn;
  const auto add = [&](const TextStretch& stretch, const auto& add_text) {
    if (stretch.token) tokens.push_back(*stretch.token);
    else add_text(std::string(stretch.text));
    at = StretchPlace::kElsewhere;
  };
  for (const TextStretch& raw : raw_tokens_.Divide(text))
    add(raw, [&](const std::string& part) {
      const std::string changed = Changed(part, {at, steps}, text_changes_);
      for (const TextStretch& stretch : normalized_tokens_.Divide(changed))
        add(stretch, [&](const std::string& words) { AddWords(words, {at, steps}, tokens); });
    });
  if (place == Place::kFirst) tokens.insert(tokens.end(), frame_.behind.begin(), frame_.behind.end());
  return tokens;
}

std::string JsonTokenizer::TextOf(int64_t token, Place place) const {
  const std::string* piece = vocabulary_->PieceOf(token);
  if (!piece || IsEnd(token)) return "";
  std::string text = *piece;
  for (const PieceChange& change : piece_changes_) text = change(std::move(text), place == Place::kFirst);
  return text;
}

}  // namespace mete
