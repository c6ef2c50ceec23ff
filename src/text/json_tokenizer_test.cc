#include "text/json_tokenizer.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <random>

#include "base/errors_testing.h"
#include "base/json.h"
#include "text/byte_letters.h"
#include "text/characters.h"
#include "text/text_pattern.h"

namespace mete {
namespace {

using Place = Tokenizer::Place;
using Ids = std::vector<int64_t>;

const std::string kFolder = "src/text/tokenizers/";  // tests run in the source root

TextJson FileOf(const std::string& name) {
  std::ifstream file(kFolder + name);
  EXPECT_TRUE(file.good()) << name;
  return TextJson::parse(file);
}

JsonTokenizer Parsed(const TextJson& json) { return JsonTokenizer::Parse(json.dump(), "t.json"); }

// expected.json has what the library of the format's authors makes of each text with each file.
class KindOfTokenizer : public testing::TestWithParam<const char*> {};

TEST_P(KindOfTokenizer, GivesTheIdsAndTextsOfTheFormatsAuthors) {
  const std::string name = GetParam();
  const auto tokenizer = Tokenizer::Load(kFolder + name);
  const TextJson cases = FileOf("expected.json").at(name);
  ASSERT_GT(cases.size(), 20u);
  for (const TextJson& each : cases) {
    const std::string text = each.at("text");
    const Ids ids = each.at("ids");
    EXPECT_EQ(tokenizer->Encode(text, Place::kFirst), ids) << text;
    EXPECT_EQ(tokenizer->Decode(ids), each.at("decoded").get<std::string>()) << text;
  }
}

TEST_P(KindOfTokenizer, AnyBytesAreTokens) {
  const auto tokenizer = Tokenizer::Load(kFolder + GetParam());
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    std::string text(size_t(random() % 30), ' ');
    for (char& c : text) c = char(random());
    const Ids ids = tokenizer->Encode(text, Place::kLater);
    for (const int64_t id : ids) EXPECT_LT(id, tokenizer->size());
    // WordPiece has no tokens for other bytes, and leaves out space, as the form of CLIP does.
    if (std::string(GetParam()) != "words.json" && std::string(GetParam()) != "ends.json") {
      std::string again;
      for (const int64_t id : ids) again += tokenizer->TextOf(id, Place::kLater);
      EXPECT_EQ(again, text);
    }
  }
}

TEST_P(KindOfTokenizer, ATextThatGoesOnHasNoBeginAndNoSpaceInFront) {
  const auto tokenizer = Tokenizer::Load(kFolder + GetParam());
  const Ids ids = tokenizer->Encode("the", Place::kLater);
  ASSERT_FALSE(ids.empty());
  EXPECT_FALSE(tokenizer->IsEnd(ids.front()));
  EXPECT_FALSE(tokenizer->IsEnd(ids.back()));
  const bool has_marks = std::string(GetParam()) == "ends.json";  // which its decoder leaves in the text
  EXPECT_EQ(tokenizer->Decode(ids), has_marks ? "the</w>" : "the");
}

INSTANTIATE_TEST_SUITE_P(Kinds, KindOfTokenizer,
                         testing::Values("bytes.json", "characters.json", "ends.json", "metaspace.json",
                                         "pieces.json", "split.json", "words.json"));

TEST(JsonTokenizer, AddedTokensMayTakeSpaceAndNormalizedText) {
  TextJson json = FileOf("words.json");
  const int64_t next = Parsed(json).size();
  const auto add = [&](const char* text, bool left, bool right, bool normalized) {
    json["added_tokens"].push_back({{"id", next + int64_t(json["added_tokens"].size())},
                                    {"content", text},
                                    {"lstrip", left},
                                    {"rstrip", right},
                                    {"normalized", normalized},
                                    {"special", false}});
    return json["added_tokens"].back()["id"].get<int64_t>();
  };
  const int64_t raw = add("<Raw>", true, true, false), lower = add("<LOWER>", false, false, true);
  const JsonTokenizer t = Parsed(json);
  const Ids the = t.Encode("the", Place::kLater);
  Ids want = the;
  want.push_back(raw);
  want.insert(want.end(), the.begin(), the.end());
  want.push_back(lower);
  EXPECT_EQ(t.Encode("the <Raw>  the<lOweR>", Place::kLater), want);
}

TEST(JsonTokenizer, TellsAllThatItDoesNotUnderstandAtOnce) {
  TextJson json = FileOf("characters.json");
  json["normalizer"] = {{"type", "Sequence"},
                        {"normalizers", {{{"type", "NFX"}}, {{"type", "Prepend"}, {"prepend", "_"}}}}};
  json["pre_tokenizer"] = {{"type", "Split"}, {"behavior", "Other"}, {"pattern", {{"Regex", "(?<=a)b"}}}};
  json["decoder"] = {{"type", "Metaspace"}, {"replacement", 5}, {"colour", "red"}};
  json["post_processor"] = {{"type", "Other\x1b"}};
  json["model"]["dropout"] = 0.5;
  json["model"]["merges"].push_back("no piece");
  json["added_tokens"][0]["id"] = -1;
  json["more"] = 1;
  const std::string error = ErrorOf([&] { Parsed(json); });
  for (const char* part :
       {"[t.json: normalizer.normalizers[0]] a part of a kind that is not understood; got 'NFX'",
        "[t.json: pre_tokenizer.pattern] a group of a kind that is not understood; got '?<=a)b'",
        "[t.json: pre_tokenizer] an unknown 'behavior'; got Other, expected Removed",
        "[t.json: decoder] 'replacement' is no text; got number",
        "[t.json: decoder] an unknown key; got 'colour'", "got 'Other?'", "'dropout' makes tokens random",
        "a merge is none of two pieces", "id is no number of a token; got -1",
        "[t.json:] an unknown key; got 'more'"})
    EXPECT_NE(error.find(part), std::string::npos) << part << " in:\n" << error;
}

TEST(JsonTokenizer, DamagedFilesAreErrors) {
  const std::string whole = FileOf("words.json").dump();
  for (size_t n = 1; n < whole.size(); n += 97) {
    const std::string_view part = std::string_view(whole).substr(0, n);
    EXPECT_TELLS(JsonTokenizer::Parse(part, "t.json"), "not a tokenizer");
  }
  EXPECT_TELLS(JsonTokenizer::Parse("{}", "t.json"), "got null, expected BPE, Unigram or WordPiece");
  EXPECT_TELLS(JsonTokenizer::Parse(R"({"model": [1]})", "t.json"), "a part is no object");
  EXPECT_TELLS(
      JsonTokenizer::Parse(R"({"model": {"type": "BPE", "vocab": {"a": 1e30}, "merges": []}})", "t.json"),
      "no number of a token");
  EXPECT_TELLS(
      JsonTokenizer::Parse(R"({"model": )" + std::string(100, '[') + std::string(100, ']') + "}", "t.json"),
      "nested too deep");
}

TEST(JsonTokenizer, ACharacterWithoutATokenIsAnErrorWhereNoneStandsForIt) {
  const JsonTokenizer t = JsonTokenizer::Parse(
      R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "decoder": {"type": "Fuse"}})",
      "t.json");
  EXPECT_EQ(t.Encode("aa", Place::kFirst), (Ids{0, 0}));
  EXPECT_TELLS(t.Encode("ab", Place::kFirst), "no piece for a character; got 'b'");
}

TEST(JsonTokenizer, WithoutADecoderSpacesJoinThePieces) {
  for (const char* decoder : {"", R"(, "decoder": null)"}) {
    const JsonTokenizer t = JsonTokenizer::Parse(
        fmt::format(R"({{"model": {{"type": "BPE", "vocab": {{"a": 0, "b": 1}}, "merges": []}}{}}})",
                    decoder),
        "t.json");
    EXPECT_EQ(t.Decode(Ids{0, 1, 0}), "a b a");
  }
}

TEST(JsonTokenizer, ATextThatChangesMakeEndlesslyLongerIsAnError) {
  TextJson grows = FileOf("bytes.json");
  const TextJson twice = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}};
  grows["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::vector<TextJson>(60, twice)}};
  EXPECT_TELLS(Parsed(grows).Encode("a", Place::kFirst), "a text becomes too long");
  TextJson letters = FileOf("bytes.json");
  const TextJson bytes = {{"type", "ByteLevel"},
                          {"use_regex", false}};  // twice as long where no byte is ASCII
  letters["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", std::vector<TextJson>(60, bytes)}};
  EXPECT_TELLS(Parsed(letters).Encode("\xc3\xa4", Place::kFirst), "a text becomes too long");
}

// A hostile file asks for more work or memory than its size.
TEST(JsonTokenizer, ListsLongerThanFilesHaveAreErrors) {
  TextJson steps = FileOf("bytes.json");
  const TextJson lower = {{"type", "Lowercase"}};
  steps["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::vector<TextJson>(70, lower)}};
  EXPECT_TELLS(Parsed(steps),
               "[t.json: normalizer] there are too many steps; got 70 or more, expected 64 at most");

  TextJson frame = FileOf("bytes.json");
  const TextJson item = {{"SpecialToken", {{"id", "A"}}}};
  std::vector<TextJson> single(2000, item);
  single.push_back({{"Sequence", {{"id", "A"}}}});
  frame["post_processor"] = {{"type", "TemplateProcessing"},
                             {"single", single},
                             {"special_tokens", {{"A", {{"id", "A"}, {"ids", {0}}, {"tokens", {"A"}}}}}}};
  EXPECT_TELLS(Parsed(frame), "a text gets too many special tokens; got 2001 or more, expected 1024 at most");

  TextJson words = FileOf("words.json");
  words["model"]["vocab"][std::string(513, 'a')] = 0;
  EXPECT_TELLS(Parsed(words), "a piece is too long; got 513 bytes, expected 512 at most");

  // A token of the file that its own changes make long.
  TextJson grows = FileOf("bytes.json");
  grows["normalizer"] = {
      {"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(16'000, 'b')}};
  grows["added_tokens"] = {{{"id", 0}, {"content", std::string(500, 'a')}, {"normalized", true}}};
  EXPECT_TELLS(Parsed(grows), "a piece is too long; got 8000000 bytes, expected 512 at most");

  // None of the steps is understood, so that none is counted as read.
  TextJson refused = FileOf("bytes.json");
  const TextJson bad = {{"type", "Replace"}, {"pattern", {{"Regex", "("}}}, {"content", ""}};
  refused["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::vector<TextJson>(70, bad)}};
  const std::string error = ErrorOf([&] { Parsed(refused); });
  EXPECT_NE(error.find("there are too many steps; got 70 or more"), std::string::npos) << error;
  EXPECT_EQ(error.find("regular expression"), std::string::npos) << error;

  TextJson long_token = FileOf("bytes.json");
  long_token["added_tokens"] = {{{"id", 0}, {"content", std::string(513, 'a')}, {"special", true}}};
  EXPECT_TELLS(Parsed(long_token), "a piece is too long; got 513 bytes, expected 512 at most");
  for (const char* mark : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    TextJson marked = FileOf("ends.json");
    marked["model"][mark] = std::string(513, 'x');
    EXPECT_TELLS(Parsed(marked), "a piece is too long; got 513 bytes, expected 512 at most");
  }

  std::string objects = R"({"added_tokens": [{})";
  for (int i = 0; i < 100'000; ++i) objects += ",{}";
  EXPECT_TELLS(JsonTokenizer::Parse(objects + "]}", "t.json"), "an added token lacks its number or its text");
}

// Networks of proteins take sequences of 20,000 letters as a word.
TEST(JsonTokenizer, WordsOfPiecesMayBeLong) {
  TextJson words = FileOf("words.json");
  words["model"]["vocab"] = {{"[UNK]", 0}, {"a", 1}, {"##a", 2}, {"##ab", 3}};
  words["model"]["max_input_chars_per_word"] = 20'000;
  words["added_tokens"] = TextJson::array();
  words["post_processor"] = nullptr;
  Ids expected(10'000, 2);
  expected.front() = 1;
  expected.back() = 3;
  EXPECT_EQ(Parsed(words).Encode(std::string(10'000, 'a') + "b", Place::kFirst), expected);
  EXPECT_EQ(Parsed(words).Encode(std::string(20'001, 'a'), Place::kFirst), Ids{0});
}

TEST(JsonTokenizer, TheIdsOfAddedTokensAreNotGuessed) {
  for (const TextJson& token : {TextJson{{"content", "<x>"}, {"special", true}}, TextJson{{"id", 5}}}) {
    TextJson json = FileOf("bytes.json");
    json["added_tokens"].push_back(token);
    EXPECT_TELLS(Parsed(json), "an added token lacks its number or its text");
  }
}

// The names of parts come from the file, too.
TEST(JsonTokenizer, ErrorsHaveNoControlCharactersOfTheFile) {
  TextJson json = FileOf("bytes.json");
  json["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single", {{{"SpecialToken", {{"id", "\x1b[2J"}}}}, {{"Sequence", TextJson::object()}}}},
      {"special_tokens", TextJson::object()}};
  const std::string error = ErrorOf([&] { Parsed(json); });
  EXPECT_NE(error.find("?[2J"), std::string::npos) << error;
  EXPECT_EQ(error.find('\x1b'), std::string::npos) << error;
}

TEST(WordsOf, MetaspaceDividesBeforeEachMark) {
  for (const char* scheme : {"never", "always"}) {
    SharedProblems problems;
    const TextJson json = {{"type", "Metaspace"}, {"prepend_scheme", scheme}};
    std::vector<WordSplit> splits;
    ReadWordSplits(JsonPart(json, "t.json:", problems), splits);
    problems.ThrowIfAny();
    const std::string mark = "\xe2\x96\x81", first = std::string(scheme) == "never" ? "a" : mark + "a";
    PatternSteps steps;
    EXPECT_EQ(WordsOf("a b  c", {StretchPlace::kElsewhere, steps}, splits),
              (std::vector<std::string>{first, mark + "b", mark, mark + "c"}));
  }
}

TEST(SplitAsGpt2, IsTheirRegularExpression) {
  const auto words = [](std::string_view text) {
    const auto views = SplitAsGpt2(text);
    return std::vector<std::string>(views.begin(), views.end());
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words("I'll've 12ab  x?!'s \n\n y "),
            (Words{"I", "'ll", "'ve", " 12", "ab", " ", " x", "?!'", "s", " \n\n", " y", " "}));
  EXPECT_EQ(words("\xc3\xa4\xc2\xbd\xe2\x82\xac\xff \xc3\xa4"),  // a letter, a number, a symbol and a byte
            (Words{"\xc3\xa4", "\xc2\xbd", "\xe2\x82\xac\xff", " \xc3\xa4"}));
  EXPECT_EQ(words("   "), (Words{"   "}));
  EXPECT_EQ(words("\n a"), (Words{"\n", " a"}));
}

TEST(Characters, HaveUnicodesKinds) {
  EXPECT_EQ(KindOf('a'), CharacterKind::kLetter);
  EXPECT_EQ(KindOf('7'), CharacterKind::kNumber);
  EXPECT_EQ(KindOf('+'), CharacterKind::kOther);
  EXPECT_EQ(KindOf('!'), CharacterKind::kPunctuation);
  EXPECT_EQ(KindOf(0), CharacterKind::kControl);
  EXPECT_EQ(KindOf(0x301), CharacterKind::kMark);
  EXPECT_EQ(KindOf(0x4e2d), CharacterKind::kLetter);
  EXPECT_EQ(KindOf(0x10ffff), CharacterKind::kOther);  // no character
  EXPECT_EQ(KindOf(kNoCharacter), CharacterKind::kOther);
  const auto made_of = [](void (*append)(std::string&, char32_t), char32_t code) {
    std::string text;
    append(text, code);
    return text;
  };
  EXPECT_EQ(made_of(AppendWithoutMarks, 0xe9), "e");
  EXPECT_EQ(made_of(AppendWithoutMarks, 0x1ec7), "e");  // two marks
  EXPECT_EQ(made_of(AppendWithoutMarks, 0x301), "");
  EXPECT_EQ(made_of(AppendWithoutMarks, 0xac01), "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8");
  EXPECT_EQ(made_of(AppendLowercase, 0xc9), "\xc3\xa9");
  EXPECT_EQ(made_of(AppendLowercase, 0x130), "i\xcc\x87");
}

TEST(Characters, OfUtf8MakeARoundTrip) {
  for (char32_t code = 0; code <= 0x10ffff; code += 7) {
    std::string text;
    AppendCharacter(text, code);
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    EXPECT_EQ(FirstCharacter(text).code, surrogate ? kNoCharacter : code);
    EXPECT_EQ(FirstCharacter(text).size, surrogate ? 1 : text.size());
    EXPECT_EQ(FirstCharacter(text.substr(0, 1)).code, text.size() == 1 ? code : kNoCharacter);
  }
  for (const char* no_utf8 : {"\xc0\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80", "\x80", "\xff"})
    EXPECT_EQ(FirstCharacter(no_utf8).code, kNoCharacter);
}

TEST(ByteLetters, MakeARoundTrip) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += char(i);
  const std::string letters = LettersOfBytes(bytes);
  EXPECT_EQ(LettersOfBytes(" a"),
            "\xc4\xa0"
            "a");
  EXPECT_EQ(BytesOfLetters(letters), bytes);
  EXPECT_EQ(BytesOfLetters("<| |>"), "<| |>");  // a space is none of the letters
}

}  // namespace
}  // namespace mete
