#include "text/likeliest_pieces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "base/errors_testing.h"
#include "text/added_tokens.h"
#include "text/prefix_list.h"

namespace mete {
namespace {

using Ids = std::vector<int64_t>;

Ids IdsBy(const TextJson& json, const std::string& word) {
  SharedProblems problems;
  const auto vocabulary = std::make_shared<Vocabulary>();
  const WordModel model = ReadWordModel(JsonPart(json, "t.json:", problems), vocabulary, "t.json");
  problems.ThrowIfAny();
  Ids ids;
  model(word, ids);
  return ids;
}

TextJson Model(const TextJson& more = TextJson::object()) {
  TextJson json = {
      {"type", "Unigram"},
      {"unk_id", 0},
      {"vocab",
       TextJson::array({{"<unk>", 0}, {"a", -3}, {"b", -3.5}, {"ab", -4}, {"abab", -9}, {"bab", -4}})}};
  json.update(more);
  return json;
}

TEST(LikeliestPieces, HaveTheLargestSum) {
  EXPECT_EQ(IdsBy(Model(), "ab"), (Ids{3}));       // -4, not -6.5
  EXPECT_EQ(IdsBy(Model(), "abab"), (Ids{1, 5}));  // -7, not -8 or -9
  EXPECT_EQ(IdsBy(Model(), "aabab"), (Ids{1, 1, 5}));
  EXPECT_EQ(IdsBy(Model(), ""), Ids{});
}

TEST(LikeliestPieces, UnknownCharactersSideBySideAreOneToken) {
  EXPECT_EQ(IdsBy(Model(), "a\xc3\xa4\xc3\xb6xb"), (Ids{1, 0, 2}));
  EXPECT_EQ(IdsBy(Model(), "\xff\xfe"), (Ids{0}));
  EXPECT_TELLS(IdsBy(Model({{"unk_id", nullptr}}), "ax"), "no piece for a character; got 'x'");
}

TEST(LikeliestPieces, UnknownCharactersMayBeBytes) {
  TextJson json = Model({{"byte_fallback", true}});
  json["vocab"].push_back({"<0xC3>", -9});
  json["vocab"].push_back({"<0xA4>", -9});
  EXPECT_EQ(IdsBy(json,
                  "a\xc3\xa4"
                  "b"),
            (Ids{1, 6, 7, 2}));
  EXPECT_EQ(IdsBy(json, "\xc3\xb6"), (Ids{0}));  // one byte has no piece
}

TEST(LikeliestPieces, RefusesWhatIsNoVocabulary) {
  EXPECT_TELLS(IdsBy(Model({{"vocab", TextJson::array()}}), ""), "'vocab' has no tokens");
  EXPECT_TELLS(IdsBy(Model({{"vocab", TextJson::array({{"a", 0}, {"b"}})}}), ""),
               "a token has no piece and score; got [\"b\"]");
  EXPECT_TELLS(IdsBy(Model({{"vocab", TextJson::array({{std::string(513, 'a'), 0}})}}), ""),
               "a piece is too long; got 513 bytes, expected 512 at most");
  EXPECT_TELLS(IdsBy(Model({{"unk_id", 6}}), ""), "'unk_id' is not in the vocabulary; got 6");
}

// The best of all ways through short words, by trying them all.
TEST(LikeliestPieces, AreTheBestOfAllWays) {
  std::mt19937 random(5);
  TextJson vocab = TextJson::array({{"<unk>", -1}, {"a", -2.5}, {"b", -3.25}});
  std::vector<double> scores{-1, -2.5, -3.25};
  for (const char* piece : {"ab", "ba", "aa", "aba", "bab", "baab"}) {
    scores.push_back(-4 - double(random() % 1000) / 256);
    vocab.push_back({piece, scores.back()});
  }
  const TextJson json = Model({{"vocab", vocab}});
  const std::function<double(std::string_view)> best = [&](std::string_view word) -> double {
    double most = word.empty() ? 0 : -1e9;
    for (size_t i = 1; i < vocab.size(); ++i)
      if (const auto piece = vocab[i][0].get<std::string>(); word.starts_with(piece))
        most = std::max(most, scores[i] + best(word.substr(piece.size())));
    return most;
  };
  for (int i = 0; i < 200; ++i) {
    std::string word(random() % 9, 'a');
    for (char& c : word) c = random() % 2 ? 'a' : 'b';
    double sum = 0;
    for (const int64_t id : IdsBy(json, word)) sum += scores[size_t(id)];
    EXPECT_DOUBLE_EQ(sum, best(word)) << word;
  }
}

TEST(PrefixList, FindsWhatATextBeginsWith) {
  std::mt19937 random(9);
  std::vector<PrefixList::Piece> pieces{{"", 99}, {"\xff", 98}};
  for (int i = 0; i < 60; ++i) {
    std::string text(1 + random() % 5, 'a');
    for (char& c : text) c = "ab\xc3"[random() % 3];
    pieces.push_back({text, i});
  }
  const PrefixList list(pieces);
  for (int i = 0; i < 500; ++i) {
    std::string text(random() % 8, 'a');
    for (char& c : text) c = "ab\xc3\xff"[random() % 4];
    std::vector<int64_t> found, want;
    list.ForEach(text, [&](const PrefixList::Piece& piece) { found.push_back(piece.number); });
    for (size_t size = 1; size <= text.size(); ++size)
      for (const PrefixList::Piece& piece : pieces)
        if (piece.text == text.substr(0, size)) {
          want.push_back(piece.number);
          break;  // of equal ones the first
        }
    EXPECT_EQ(found, want) << text;
  }
  PrefixList().ForEach("a", [](const PrefixList::Piece&) { FAIL(); });
}

TEST(TokenFinder, TakesTheLongestOfManyTokens) {
  const std::vector<AddedToken> tokens{{1, "<a"}, {2, "<a>"}, {3, "<a><b"}, {4, "<a"}, {5, ""}};
  const std::string text = "x<a><a><b>";
  std::vector<int64_t> found;
  for (const TextStretch& stretch : TokenFinder(tokens).Divide(text))
    found.push_back(stretch.token.value_or(0));
  EXPECT_EQ(found, (Ids{0, 2, 3, 0}));
}

}  // namespace
}  // namespace mete
