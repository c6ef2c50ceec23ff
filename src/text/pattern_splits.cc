#include "text/pattern_splits.h"

#include <algorithm>
#include <optional>

#include "text/text_pattern.h"

namespace mete {
namespace {

// What becomes of a match, which the format calls a delimiter.
enum class Behavior { kRemoved, kIsolated, kWithPrevious, kWithNext, kContiguous };

constexpr std::pair<const char*, Behavior> kBehaviors[] = {{"Removed", Behavior::kRemoved},
                                                           {"Isolated", Behavior::kIsolated},
                                                           {"MergedWithPrevious", Behavior::kWithPrevious},
                                                           {"MergedWithNext", Behavior::kWithNext},
                                                           {"Contiguous", Behavior::kContiguous}};

std::optional<Behavior> ReadBehavior(JsonPart& part, const char* otherwise) {
  const std::string name = part.Text("behavior", otherwise);
  for (const auto& [known, behavior] : kBehaviors)
    if (name == known) return behavior;
  part.Refuse("an unknown 'behavior'", Shown(name),
              "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
  return std::nullopt;
}

struct Piece {
  size_t begin = 0, end = 0;
  bool matches = false;
};

// The matches and what is between them. `inverted`: the other way round.
std::vector<Piece> PiecesOf(std::string_view text, const TextPattern& pattern, bool inverted,
                            PatternSteps& steps) {
  std::vector<Piece> pieces;
  size_t at = 0;
  for (const TextPattern::Match& match : pattern.FindAll(text, steps)) {
    if (match.begin > at) pieces.push_back({at, match.begin, inverted});
    pieces.push_back({match.begin, match.end, !inverted});
    at = match.end;
  }
  if (at < text.size()) pieces.push_back({at, text.size(), inverted});
  return pieces;
}

// Joins pieces with those before them, or behind them where the list is turned round. A match joins what does
// not match, but not another match.
std::vector<Piece> JoinedMatches(const std::vector<Piece>& pieces) {
  std::vector<Piece> joined;
  bool was_match = false;
  for (const Piece& piece : pieces) {
    if (piece.matches && !was_match && !joined.empty()) {
      joined.back().begin = std::min(joined.back().begin, piece.begin);
      joined.back().end = std::max(joined.back().end, piece.end);
    } else {
      joined.push_back(piece);
    }
    was_match = piece.matches;
  }
  return joined;
}

std::vector<Piece> JoinedRuns(const std::vector<Piece>& pieces) {
  std::vector<Piece> joined;
  for (const Piece& piece : pieces)
    if (!joined.empty() && joined.back().matches == piece.matches) joined.back().end = piece.end;
    else joined.push_back(piece);
  return joined;
}

std::vector<Piece> Arranged(std::vector<Piece> pieces, Behavior behavior) {
  switch (behavior) {
    case Behavior::kRemoved:
      std::erase_if(pieces, [](const Piece& piece) { return piece.matches; });
      return pieces;
    case Behavior::kIsolated: return pieces;
    case Behavior::kWithPrevious: return JoinedMatches(pieces);
    case Behavior::kWithNext: {
      std::reverse(pieces.begin(), pieces.end());
      std::vector<Piece> joined = JoinedMatches(pieces);
      std::reverse(joined.begin(), joined.end());
      return joined;
    }
    case Behavior::kContiguous: return JoinedRuns(pieces);
  }
  return pieces;
}

WordSplit SplitBy(const TextPattern& pattern, Behavior behavior, bool inverted) {
  return [=](std::string_view word, const StretchContext& context) {
    std::vector<std::string> words;
    for (const Piece& piece : Arranged(PiecesOf(word, pattern, inverted, context.steps), behavior))
      words.emplace_back(word.substr(piece.begin, piece.end - piece.begin));
    return words;
  };
}

void AddSplit(JsonPart& part, std::vector<WordSplit>& splits) {
  const auto pattern = ReadPattern(part.Part("pattern"));
  const auto behavior = ReadBehavior(part, "Isolated");
  const bool inverted = part.Flag("invert", false);
  if (pattern && behavior) splits.push_back(SplitBy(*pattern, *behavior, inverted));
}

// The format's own words for what these types divide at.
constexpr const char* kDigit = "\\p{N}";
constexpr const char* kPunctuation = "[!-/:-@\\[-`{-~\\p{P}]";
constexpr const char* kSpace = "\\s";
// Words have joiners and no numbers that are no digits, since the format has these patterns of another
// library.
constexpr const char* kWordOrSigns =
    "[\\w\\u200c\\u200d&&[^\\u00b2\\u00b3\\u00b9\\u00bc-\\u00be]]+|"
    "[^\\s[\\w\\u200c\\u200d&&[^\\u00b2\\u00b3\\u00b9\\u00bc-\\u00be]]]+";

}  // namespace

bool AddPatternSplit(const std::string& type, JsonPart& part, std::vector<WordSplit>& splits) {
  const auto add = [&](const char* expression, std::optional<Behavior> behavior, bool inverted) {
    if (behavior) splits.push_back(SplitBy(TextPattern(ReadExpression(expression)), *behavior, inverted));
  };
  if (type == "Split") AddSplit(part, splits);
  else if (type == "Digits")
    add(kDigit, part.Flag("individual_digits", false) ? Behavior::kIsolated : Behavior::kContiguous, false);
  else if (type == "Punctuation") add(kPunctuation, ReadBehavior(part, "Isolated"), false);
  else if (type == "Whitespace") add(kWordOrSigns, Behavior::kRemoved, true);
  else if (type == "WhitespaceSplit") add(kSpace, Behavior::kRemoved, false);
  else return false;
  return true;
}

}  // namespace mete
