#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

#include "base/errors_testing.h"
#include "text/merges.h"
#include "text/sampler.h"
#include "text/piece_tokenizer.h"

namespace mete {
namespace {

using Place = Tokenizer::Place;

std::string FileOf(const std::vector<std::pair<std::string, float>>& pieces) {
  std::string file(4, '\0');
  for (const auto& [text, score] : pieces) {
    const int32_t length = int32_t(text.size());
    char head[8];
    std::memcpy(head, &score, 4);
    std::memcpy(head + 4, &length, 4);
    file += std::string(head, 8) + text;
  }
  return file;
}

PieceTokenizer Parsed(const std::string& file) {
  return PieceTokenizer::Parse(std::as_bytes(std::span(file.data(), file.size())), "pieces.bin");
}

// Pieces for all bytes, a few characters, and words of them.
PieceTokenizer Small() {
  std::vector<std::pair<std::string, float>> pieces{{"<unk>", 0}, {"\n<s>\n", 0}, {"\n</s>\n", 0}};
  for (int i = 0; i < 256; ++i) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", i);
    pieces.emplace_back(name, 0.f);
  }
  for (const auto& [text, score] : std::vector<std::pair<std::string, float>>{{" ", -10},
                                                                              {"a", -10},
                                                                              {"b", -10},
                                                                              {"ab", -2},
                                                                              {"ba", -1},
                                                                              {" a", -3},
                                                                              {"aba", -4},
                                                                              {"\xc3\xa4", -9}})
    pieces.emplace_back(text, score);
  return Parsed(FileOf(pieces));
}

TEST(Tokenizer, MergesTheBestPairFirst) {
  const PieceTokenizer t = Small();
  // " abab": "ba" is the best pair, then " a"; " aba" is no piece.
  EXPECT_EQ(t.Encode("abab", Place::kFirst), (std::vector<int64_t>{1, 264, 263, 261}));
  EXPECT_EQ(t.Encode("aba", Place::kLater), (std::vector<int64_t>{265}));
  EXPECT_EQ(t.Encode("", Place::kFirst), (std::vector<int64_t>{1}));
}

TEST(Tokenizer, EveryTextMakesARoundTrip) {
  const PieceTokenizer t = Small();
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    std::string text(size_t(random() % 20), ' ');
    for (char& c : text) c = i % 2 ? char(random()) : "ab \xc3\xa4"[random() % 5];
    EXPECT_EQ(t.Decode(t.Encode(text, Place::kFirst)), text);
  }
  EXPECT_EQ(t.Encode("\xc3\xa4", Place::kLater), (std::vector<int64_t>{266}));   // a character
  EXPECT_EQ(t.Encode("\xc3", Place::kLater), (std::vector<int64_t>{3 + 0xc3}));  // half of one
  EXPECT_EQ(t.Encode("\xe2\x82", Place::kLater), (std::vector<int64_t>{3 + 0xe2, 3 + 0x82}));
}

TEST(Tokenizer, TokensThatAreNoneHaveNoText) {
  const PieceTokenizer t = Small();
  for (const int64_t token : {int64_t(-1), t.size(), PieceTokenizer::kBegin, PieceTokenizer::kEnd, INT64_MAX})
    EXPECT_EQ(t.TextOf(token, Place::kLater), "");
}

TEST(Tokenizer, DamagedFilesAreErrors) {
  const std::string file = FileOf({{"<unk>", 0}, {"<s>", 0}, {"</s>", 0}, {"word", 1}});
  EXPECT_EQ(Parsed(file).size(), 4);
  for (size_t n = 0; n < file.size(); ++n)
    if (n != file.size() - 12) {  // a file of three pieces is whole
      EXPECT_TELLS(Parsed(file.substr(0, n)), "not a tokenizer");
    }
  std::string negative = file;
  std::memset(negative.data() + 8, 0xff, 4);
  EXPECT_TELLS(Parsed(negative), "below 0");
  EXPECT_TELLS(Parsed(FileOf({{"a", 0}, {"b", 0}, {"c", std::numeric_limits<float>::quiet_NaN()}})), "score");
  EXPECT_TELLS(Parsed(file).Encode("x", Place::kLater), "no piece for a byte; got 0x78");
}

// The merges of one pair at a time over the whole list, as they are defined.
std::vector<int64_t> MergedSlowly(std::vector<int64_t> tokens, const auto& pair) {
  for (;;) {
    size_t best = tokens.size();
    std::optional<MergedPair> merged;
    for (size_t i = 0; i + 1 < tokens.size(); ++i)
      if (const auto here = pair(tokens[i], tokens[i + 1]);
          here && (!merged || here->score > merged->score)) {
        merged = here;
        best = i;
      }
    if (!merged) return tokens;
    tokens[best] = merged->token;
    tokens.erase(tokens.begin() + int64_t(best) + 1);
  }
}

TEST(Merge, EqualsItsDefinition) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    // Tokens are numbers below 40, of which half of the pairs have a sum below 40 that they become.
    const auto pair = [&](int64_t a, int64_t b) -> std::optional<MergedPair> {
      if (a + b >= 40 || (a * 7 + b * 3 + round) % 3 == 0) return std::nullopt;
      return MergedPair{a + b, float((a * 5 + b * 11 + round) % 6)};
    };
    std::vector<int64_t> tokens(size_t(random() % 60));
    for (int64_t& t : tokens) t = 1 + int64_t(random() % 9);
    EXPECT_EQ(Merge(tokens, pair), MergedSlowly(tokens, pair));
  }
}

TEST(SampleToken, GreedyTakesTheHighest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> logits{nan, 1, 3, 3, -2}, none{nan, nan};
  EXPECT_EQ(SampleToken(logits, {}, 0.99), 2);
  EXPECT_TELLS(SampleToken(none, {}, 0), "no token can be chosen");
}

TEST(SampleToken, ChancesAreThoseOfTheSoftmax) {
  // The probabilities are 0.1, 0.6 and 0.3; the likeliest token has the smallest random numbers.
  const std::vector<float> logits{std::log(1.f), std::log(6.f), std::log(3.f)};
  const SamplerOptions all{.temperature = 1};
  EXPECT_EQ(SampleToken(logits, all, 0), 1);
  EXPECT_EQ(SampleToken(logits, all, 0.59), 1);
  EXPECT_EQ(SampleToken(logits, all, 0.61), 2);
  EXPECT_EQ(SampleToken(logits, all, 0.89), 2);
  EXPECT_EQ(SampleToken(logits, all, 0.91), 0);
  // At half the temperature the chances are 1 : 36 : 9.
  const SamplerOptions cold{.temperature = 0.5f};
  EXPECT_EQ(SampleToken(logits, cold, 35.9 / 46), 1);
  EXPECT_EQ(SampleToken(logits, cold, 36.1 / 46), 2);
}

TEST(SampleToken, TopPDropsTheUnlikely) {
  const std::vector<float> logits{std::log(1.f), std::log(6.f), std::log(3.f)};
  for (const double random : {0.0, 0.5, 0.999}) {
    EXPECT_EQ(SampleToken(logits, {.temperature = 1, .top_p = 0.5f}, random), 1);
    EXPECT_EQ(SampleToken(logits, {.temperature = 1, .top_p = 0}, random), 1);
    EXPECT_NE(SampleToken(logits, {.temperature = 1, .top_p = 0.8f}, random), 0);
  }
  EXPECT_EQ(SampleToken(logits, {.temperature = 1, .top_p = 0.8f}, 0.7), 2);
}

TEST(Tokenizer, ReadsTheSharedFile) {
  const char* shared = std::getenv("METE_SHARED");
  const std::filesystem::path path =
      std::filesystem::path(shared ? shared : "../shared") / "models/stories260k_tok512.bin";
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << path << " is missing: the models are not in the repository";
  const auto loaded = Tokenizer::Load(path);
  const Tokenizer& t = *loaded;
  EXPECT_EQ(t.size(), 512);
  // as expected.json beside the model has it
  EXPECT_EQ(t.Encode("Once upon a time", Place::kFirst), (std::vector<int64_t>{1, 403, 407, 261, 378}));
  EXPECT_EQ(t.Decode(std::vector<int64_t>{1, 403, 407, 261, 378}), "Once upon a time");
}

}  // namespace
}  // namespace mete
