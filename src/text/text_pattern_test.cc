#include "text/text_pattern.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "text/word_splits.h"

namespace mete {
namespace {

using Words = std::vector<std::string>;

// The matches of a regular expression, or the problem that it is.
Words MatchesOf(const std::string& expression, const std::string& text) {
  SharedProblems problems;
  const TextJson json = {{"Regex", expression}};
  const auto pattern = ReadPattern(JsonPart(json, "t.json:", problems));
  problems.ThrowIfAny();
  Words words;
  PatternSteps steps;
  for (const TextPattern::Match& match : pattern->FindAll(text, steps))
    words.push_back(text.substr(match.begin, match.end - match.begin));
  return words;
}

std::string ProblemOf(const std::string& expression) {
  return ErrorOf([&] { MatchesOf(expression, ""); });
}

Words WordsOfSplit(const TextJson& json, const std::string& text) {
  SharedProblems problems;
  std::vector<WordSplit> splits;
  ReadWordSplits(JsonPart(json, "t.json:", problems), splits);
  problems.ThrowIfAny();
  PatternSteps steps;
  return WordsOf(text, {StretchPlace::kElsewhere, steps}, splits);
}

TEST(TextPattern, FindsWhatOnigurumaFinds) {
  const struct {
    const char *expression, *text;
    Words matches;
  } cases[] = {
      {"a|bc", "abcab", {"a", "bc", "a"}},
      {"ab|a", "aab", {"a", "ab"}},  // the first alternative, not the longest
      {"a|ab", "aab", {"a", "a"}},
      {"a*b", "aab b", {"aab", "b"}},
      {"a+?", "aaa", {"a", "a", "a"}},
      {"<.+?>", "<a><b>", {"<a>", "<b>"}},
      {"a??b", "ab", {"ab"}},
      {"a{1,2}?", "aa", {"a", "a"}},
      {"a{2}", "aaaaa", {"aa", "aa"}},
      {"a{2,}", "a aaa", {"aaa"}},
      {"a{,2}b", "aaab b", {"aab", "b"}},
      {"a{1,2}", "aaa", {"aa", "a"}},
      {"a{x", "a{x", {"a{x"}},  // no repeat
      {"a{2}{2}", "aaaaa", {"aaaa"}},
      {"a{1,2}+", "aaaaa", {"aaaaa"}},  // a repeat of the repeat
      {"a++a", "aaa", {}},              // possessive
      {"(?>a+)a|b", "aab", {"b"}},
      {"(?>a|ab)c", "abc", {}},
      {"(a|b)(?:c)?", "acb", {"ac", "b"}},
      {"a(?=b)", "acab", {"a"}},
      {"\\s+(?!\\S)|\\s+", "a   b  ", {"  ", " ", "  "}},
      {"x*", "axxb", {"", "xx", ""}},
      {"(?=b)", "abc", {""}},
      {"^a", "aa\na", {"a", "a"}},  // of each line
      {"^", "a\n", {""}},
      {"a$", "a\naa", {"a", "a"}},
      {"\\Aa|a\\z", "aaa", {"a", "a"}},
      {"a.c", "a\ncabc", {"abc"}},
      {"(?m)a.c", "a\nc", {"a\nc"}},
      {"(?i:AB)c", "aBcABC", {"aBc"}},
      {"(?i)k's", "K'\xc5\xbf \xe2\x84\xaa's", {"K'\xc5\xbf", "\xe2\x84\xaa's"}},  // a long s, a Kelvin sign
      {"(?i)[^a-c]", "aBx", {"x"}},
      {"(?i)[\xc3\x89]", "\xc3\xa9\xc3\x89", {"\xc3\xa9", "\xc3\x89"}},
      {"a(?i)b|c", "aBaC", {"aB", "aC"}},  // the flag has the alternatives in its group
      {"(?i:a(?-i:b))", "AbAB", {"Ab"}},
      {"[a-c]+", "abcd", {"abc"}},
      {"[^a-c]+", "abcde", {"de"}},
      {"[a-]+", "a-b", {"a-"}},
      {"[-a]+", "a-b", {"a-"}},
      {"[a[bc]]+", "abc]", {"abc"}},
      {"[^a[bc]]+", "abcd]", {"d]"}},
      {"[a-z&&[^b]]+", "abc", {"a", "c"}},
      {"[\\w&&[^\\d]&&[^a]]+", "ab1c", {"b", "c"}},
      {"[\\^\\]\\\\-]+", "a^]\\-", {"^]\\-"}},
      {"[^\\S\\n]+", "a \n\t", {" ", "\t"}},
      {"\\x41\\u0042\\x{1F600}", "AB\xf0\x9f\x98\x80", {"AB\xf0\x9f\x98\x80"}},
      {"\\h+", "xyz1Fg", {"1F"}},  // digits of base 16
      {"\\d+", "a1\xd9\xa3\xc2\xb2", {"1\xd9\xa3"}},
      {"\\W", "a_\xc3\xa4-", {"-"}},
      {"\\p{Lu}\\p{Ll}*", "AbC", {"Ab", "C"}},
      {"\\P{L}+|\\p{^L}x", "ab1 c", {"1 "}},
      {"\\p{Han}+", "a\xe6\xbc\xa2\xe5\xad\x97\xe3\x81\x8b", {"\xe6\xbc\xa2\xe5\xad\x97"}},
      {"\\p{M}", "e\xcc\x81", {"\xcc\x81"}},
      {"[^\\s\\p{L}]+", "a\xff\xfe ", {"\xff\xfe"}},  // bytes that are no UTF-8 are characters without a kind
      {"\\.\\*\\+", ".*+", {".*+"}},
  };
  for (const auto& [expression, text, matches] : cases)
    EXPECT_EQ(MatchesOf(expression, text), matches) << expression << " in " << text;
}

TEST(TextPattern, TellsWhatItDoesNotUnderstand) {
  const std::pair<const char*, const char*> cases[] = {
      {"a(", "a group has no end; got ''"},
      {"a)", "a regular expression has a ')' too many; got ')' at its byte 1"},
      {"[a", "a regular expression ends too early"},
      {"[]", "a list has no characters"},
      {"[b-a]", "a range of characters has no end"},
      {"[a-\\d]", "a range of characters has no end"},
      {"*a", "a repeat has nothing before it"},
      {"a{3,1}", "a repeat has fewer at most than at least"},
      {"a{2}?", "a repeat of one number is lazy"},
      {"(a*)*", "a part that may be empty is repeated without end"},
      {"(?<=a)b", "a group of a kind that is not understood; got '?<=a)b' at its byte 1"},
      {"(?<name>a)", "a group of a kind"},
      {"(?x) a", "a group of a kind"},
      {"\\ba", "an escape that is not understood; got '\\ba' at its byte 0"},
      {"(a)\\1", "an escape that is not understood"},
      {"\\p{Latin}", "a property that is not understood"},
      {"\\pL", "a property has no name"},
      {"(?i)\\p{Lu}", "a property of letters' case"},
      {"[[:alpha:]]", "a class has a name of POSIX"},
      {"\\x{110000}", "a character's number is none of Unicode"},
      {"(?i)[^\\x00-\\x{10ffff}]", "too long to ignore the cases"},
      {"\\", "a regular expression ends too early"},
  };
  for (const auto& [expression, problem] : cases)
    EXPECT_NE(ProblemOf(expression).find(problem), std::string::npos)
        << expression << ": " << ProblemOf(expression);
}

// A hostile file asks for more work or memory than a text's length explains.
TEST(TextPattern, HasBoundsForHostileExpressions) {
  EXPECT_NE(ProblemOf("((a{100}){100}){100}").find("too many steps"), std::string::npos);
  EXPECT_NE(ProblemOf("a{1001}").find("a repeat has too many"), std::string::npos);
  EXPECT_NE(ProblemOf(std::string(9000, 'a')).find("too long"), std::string::npos);
  EXPECT_NE(ProblemOf(std::string(100, '(') + std::string(100, ')')).find("nested too deep"),
            std::string::npos);
  EXPECT_NE(ProblemOf(std::string(100, '[') + "a" + std::string(100, ']')).find("nested too deep"),
            std::string::npos);
  std::string repeats = "a";
  for (int i = 0; i < 5; ++i) repeats += "?+";
  EXPECT_NE(ProblemOf(repeats).find("too many repeats"), std::string::npos);
  std::string ways = "(?:a{999}){19}";
  for (int i = 0; i < 500; ++i) ways += "|(?:a{999}){19}";
  EXPECT_NE(ProblemOf(ways).find("too many steps"), std::string::npos);
  std::string lists = "[";
  for (int i = 0; i < 100; ++i) lists += "[^a]";
  EXPECT_NE(ProblemOf(lists + "]").find("too many lists"), std::string::npos);
  std::string within = "[";  // ten lists with three more in each
  for (int i = 0; i < 10; ++i) within += "[^a[^b][^c][^d]]";
  EXPECT_NE(ProblemOf(within + "]").find("too many lists"), std::string::npos);
  EXPECT_TELLS(MatchesOf("(a|a)+b", std::string(60, 'a')), "a pattern takes too many steps");
  EXPECT_TELLS(MatchesOf("(?:a(?:|b){900})+c", std::string(500, 'a')), "a pattern takes too many places");
  // What honest patterns do to long texts is no problem.
  EXPECT_EQ(MatchesOf("\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+|\\S+", std::string(100'000, ' ') + "a").size(), 3u);
}

// However many words a text is divided into, each of which would be allowed steps of its own.
TEST(TextPattern, HasABoundForAllWordsOfAText) {
  SharedProblems problems;
  const TextJson json = {{"Regex", "b"}};
  const auto pattern = ReadPattern(JsonPart(json, "t.json:", problems));
  PatternSteps steps{10};
  pattern->FindAll("aaaa", steps);
  EXPECT_EQ(steps.left, 5u);  // a step at each place, and one at the end
  EXPECT_TELLS(pattern->FindAll("aaaaa", steps), "patterns take too many steps for all words of a text");
}

TEST(TextPattern, CountsTheListsThatACharacterIsLookedForIn) {
  SharedProblems problems;
  const TextJson json = {{"Regex", "[[^a][^b]]"}};
  const auto pattern = ReadPattern(JsonPart(json, "t.json:", problems));
  PatternSteps few{100}, more{100};
  pattern->FindAll("c", few);
  pattern->FindAll("\xc3\xa4", more);
  EXPECT_EQ(few.left, more.left + 2);
}

TEST(TextPattern, IgnoresTheFormsOfALetter) {
  const std::string end_sigma = "\xcf\x82", sigma = "\xcf\x83", long_s = "\xc5\xbf";
  EXPECT_EQ(MatchesOf("(?i)" + sigma, end_sigma + sigma), (Words{end_sigma, sigma}));
  EXPECT_EQ(MatchesOf("(?i)" + end_sigma, end_sigma + sigma), (Words{end_sigma, sigma}));
  EXPECT_EQ(MatchesOf("(?i)s", long_s + "S"), (Words{long_s, "S"}));
}

TEST(TextPattern, IgnoresNoCasesWhereLettersHaveNone) {
  EXPECT_EQ(MatchesOf("(?i)\\p{Han}+x", "a\xe4\xb8\xad\xe6\x96\x87X"), Words{"\xe4\xb8\xad\xe6\x96\x87X"});
}

TEST(TextPattern, ReplacesEachMatch) {
  const auto replaced = [](const TextJson& json, const char* text) {
    SharedProblems problems;
    PatternSteps steps;
    return ReadPattern(JsonPart(json, "t.json:", problems))->Replaced(text, "_", steps);
  };
  EXPECT_EQ(replaced({{"Regex", " {2,}"}}, "a  b c   "), "a_b c_");
  EXPECT_EQ(replaced({{"Regex", "x*"}}, "axb"), "_a_b_");
  EXPECT_EQ(replaced({{"String", "a.b"}}, "a.b axb"), "_ axb");
}

TEST(Split, HasFiveBehaviorsAndTheirInverse) {
  const std::string text = "12ab3  c45";
  const struct {
    const char* behavior;
    Words words, inverted;
  } cases[] = {
      {"Removed", {"ab", "  c"}, {"1", "2", "3", "4", "5"}},
      {"Isolated", {"1", "2", "ab", "3", "  c", "4", "5"}, {"1", "2", "ab", "3", "  c", "4", "5"}},
      {"MergedWithPrevious", {"1", "2", "ab3", "  c4", "5"}, {"1", "2ab", "3  c", "4", "5"}},
      {"MergedWithNext", {"1", "2ab", "3  c", "4", "5"}, {"1", "2", "ab3", "  c4", "5"}},
      {"Contiguous", {"12", "ab", "3", "  c", "45"}, {"12", "ab", "3", "  c", "45"}},
  };
  for (const auto& [behavior, words, inverted] : cases) {
    TextJson json = {
        {"type", "Split"}, {"pattern", {{"Regex", "[0-9]"}}}, {"behavior", behavior}, {"invert", false}};
    EXPECT_EQ(WordsOfSplit(json, text), words) << behavior;
    json["invert"] = true;
    EXPECT_EQ(WordsOfSplit(json, text), inverted) << behavior;
  }
}

TEST(Split, HasNamesForCommonPatterns) {
  EXPECT_EQ(WordsOfSplit({{"type", "Digits"}, {"individual_digits", true}}, "a12b"),
            (Words{"a", "1", "2", "b"}));
  EXPECT_EQ(WordsOfSplit({{"type", "Digits"}}, "a12b"), (Words{"a", "12", "b"}));
  EXPECT_EQ(WordsOfSplit({{"type", "Punctuation"}}, "a-$b"), (Words{"a", "-", "$", "b"}));
  EXPECT_EQ(WordsOfSplit({{"type", "Punctuation"}, {"behavior", "Contiguous"}}, "a-$b"),
            (Words{"a", "-$", "b"}));
  EXPECT_EQ(WordsOfSplit({{"type", "Whitespace"}}, "a1 b?! \xc2\xb2\xe2\x80\x8d"),
            (Words{"a1", "b", "?!", "\xc2\xb2", "\xe2\x80\x8d"}));
  EXPECT_EQ(WordsOfSplit({{"type", "WhitespaceSplit"}}, " a?  b\n"), (Words{"a?", "b"}));
}

TEST(Split, NeedsAPattern) {
  EXPECT_TELLS(WordsOfSplit({{"type", "Split"}}, "a"),
               "[t.json: pattern] a pattern is neither a text nor a regular expression; got none");
  EXPECT_TELLS(WordsOfSplit({{"type", "Split"}, {"pattern", {{"Regex", "a"}, {"String", "a"}}}}, "a"),
               "got both");
}

}  // namespace
}  // namespace mete
