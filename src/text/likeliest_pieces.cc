#include "text/likeliest_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "text/characters.h"
#include "text/prefix_list.h"

namespace mete {
namespace {

// An unknown character is less likely than any piece by this, as SentencePiece has it.
constexpr double kUnknownPenalty = 10;

struct LikeliestPiecesModel {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::string name;
  std::vector<double> scores;  // of pieces by their numbers: logarithms of probabilities
  PrefixList pieces;
  std::optional<int64_t> unknown;
  bool knows_bytes = false;
  double unknown_score = 0;

  // The last stretch of the best way to a place.
  struct Way {
    double score = 0;
    uint32_t begin = 0;  // texts are shorter than 4 GiB (CheckTextSize)
    bool known = true, reached = false;
  };

  void Encode(std::string_view word, std::vector<int64_t>& tokens) const {
    const std::vector<Way> ways = WaysThrough(word);
    std::vector<std::string_view> stretches;  // from the last one on
    bool was_unknown = false;
    for (size_t end = word.size(); end > 0; end = ways[end].begin) {
      const Way& way = ways[end];
      const bool joins = !way.known && was_unknown;
      const size_t behind = joins ? stretches.back().size() : 0;
      if (joins) stretches.pop_back();
      stretches.push_back(word.substr(way.begin, end - way.begin + behind));
      was_unknown = !way.known;
    }
    for (auto stretch = stretches.rbegin(); stretch != stretches.rend(); ++stretch)
      AddToken(*stretch, tokens);
  }

  std::vector<Way> WaysThrough(std::string_view word) const {
    std::vector<Way> ways(word.size() + 1);
    const auto reach = [&](size_t end, const Way& way) {
      if (!ways[end].reached || way.score > ways[end].score) ways[end] = way;
    };
    for (size_t begin = 0; begin < word.size();) {
      const std::string_view rest = word.substr(begin);
      const size_t character = FirstCharacter(rest).size;
      const double score = ways[begin].score;
      bool has_character = false;
      pieces.ForEach(rest, [&](const PrefixList::Piece& piece) {
        has_character |= piece.text.size() == character;
        reach(begin + piece.text.size(),
              {score + scores[size_t(piece.number)], uint32_t(begin), piece.number != unknown, true});
      });
      if (!has_character) reach(begin + character, {score + unknown_score, uint32_t(begin), false, true});
      begin += character;
    }
    return ways;
  }

  void AddToken(std::string_view stretch, std::vector<int64_t>& tokens) const {
    if (const auto token = vocabulary->Find(stretch)) return tokens.push_back(*token);
    if (knows_bytes && AddByteTokens(*vocabulary, stretch, tokens)) return;
    if (!unknown) RefuseUnknown(name, stretch);
    tokens.push_back(*unknown);
  }
};

bool IsPieceWithScore(const TextJson& item) {
  return item.is_array() && item.size() == 2 && item[0].is_string() && item[1].is_number() &&
         std::isfinite(item[1].get<double>());
}

// The list of pairs of a piece and its score, whose numbers are their places.
void ReadScores(JsonPart& part, Vocabulary& vocabulary, LikeliestPiecesModel& model) {
  const TextJson& vocab = part.Value("vocab");
  if (!vocab.is_array() || vocab.empty() || int64_t(vocab.size()) > kMostTokens)
    return part.Refuse("'vocab' has no tokens, or too many", vocab.type_name(),
                       fmt::format("a list of 1 to {} pieces and their scores", kMostTokens));
  std::vector<PrefixList::Piece> pieces;
  for (const TextJson& item : vocab) {
    const int64_t number = int64_t(pieces.size());
    if (!IsPieceWithScore(item)) {
      part.Refuse("a token has no piece and score",
                  Shown(item.dump(-1, ' ', false, TextJson::error_handler_t::replace)),
                  "a list of a text and a number");
      return;
    }
    pieces.push_back({item[0].get<std::string>(), number});
    CheckPieceSize(part, pieces.back().text);
    model.scores.push_back(item[1].get<double>());
    vocabulary.Add(pieces.back().text, number);
  }
  // Of equal pieces the last one counts, as in the vocabulary.
  std::reverse(pieces.begin(), pieces.end());
  model.pieces = PrefixList(std::move(pieces));
  model.unknown_score = *std::min_element(model.scores.begin(), model.scores.end()) - kUnknownPenalty;
}

}  // namespace

WordModel ReadLikeliestPiecesModel(JsonPart& part, const std::shared_ptr<Vocabulary>& vocabulary,
                                   const std::string& name) {
  const auto model = std::make_shared<LikeliestPiecesModel>();
  model->vocabulary = vocabulary;
  model->name = name;
  ReadScores(part, *vocabulary, *model);
  if (!part.Value("unk_id").is_null()) {
    const int64_t unknown = part.Number("unk_id", 0);
    if (unknown < int64_t(model->scores.size())) model->unknown = unknown;
    else part.Refuse("'unk_id' is not in the vocabulary", std::to_string(unknown), "one of its tokens");
  }
  model->knows_bytes = part.Flag("byte_fallback", false);
  return [model](std::string_view word, std::vector<int64_t>& tokens) { model->Encode(word, tokens); };
}

}  // namespace mete
