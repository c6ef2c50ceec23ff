#include "text/text_changes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/errors_testing.h"
#include "text/character_map.h"
#include "text/text_pattern.h"

namespace mete {
namespace {

std::string ChangedBy(const TextJson& json, const std::string& text) {
  SharedProblems problems;
  std::vector<TextChange> changes;
  ReadTextChanges(JsonPart(json, "t.json:", problems), changes);
  problems.ThrowIfAny();
  PatternSteps steps;
  return Changed(text, {StretchPlace::kFirst, steps}, changes);
}

TEST(TextChanges, TakeSpaceAndMarksAway) {
  EXPECT_EQ(ChangedBy({{"type", "Strip"}}, " \xe3\x80\x80 a b \n"), "a b");
  EXPECT_EQ(ChangedBy({{"type", "Strip"}, {"strip_left", false}}, " a "), " a");
  EXPECT_EQ(ChangedBy({{"type", "Strip"}, {"strip_right", false}}, " a "), "a ");
  EXPECT_EQ(ChangedBy({{"type", "StripAccents"}}, "e\xcc\x81\xc3\xa9"),
            "e\xc3\xa9");  // a mark, and a letter with one
}

TEST(TextChanges, ReplacePatterns) {
  const TextJson json = {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}};
  EXPECT_EQ(ChangedBy(json, "a   b c"), "a b c");
}

TEST(NormalForms, AreThoseOfUnicode) {
#ifdef METE_NORMAL_FORMS
  const std::string composed = "\xc3\xa9", decomposed = "e\xcc\x81", ligature = "\xef\xac\x81";  // fi
  EXPECT_EQ(ChangedBy({{"type", "NFC"}}, decomposed + ligature), composed + ligature);
  EXPECT_EQ(ChangedBy({{"type", "NFD"}}, composed + ligature), decomposed + ligature);
  EXPECT_EQ(ChangedBy({{"type", "NFKC"}}, decomposed + ligature), composed + "fi");
  EXPECT_EQ(ChangedBy({{"type", "NFKD"}}, composed + ligature), decomposed + "fi");
  // The order of two marks, Korean syllables, bytes that are no UTF-8, a zero.
  EXPECT_EQ(ChangedBy({{"type", "NFD"}}, "a\xcc\x81\xcc\xa3"), "a\xcc\xa3\xcc\x81");
  EXPECT_EQ(ChangedBy({{"type", "NFC"}}, "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8"), "\xea\xb0\x81");
  EXPECT_EQ(ChangedBy({{"type", "NFC"}}, "\xff" + decomposed + "\xfe\xc3"), "\xff" + composed + "\xfe\xc3");
  const std::string zero("a\0b", 3);
  EXPECT_EQ(ChangedBy({{"type", "NFC"}}, zero), zero);
  EXPECT_EQ(ChangedBy({{"type", "NFC"}}, ""), "");
  // The library's time is the square of the marks of a character.
  std::string marks = "a";
  for (int i = 0; i < 1024; ++i) marks += "\xcc\x81";
  EXPECT_EQ(ChangedBy({{"type", "NFD"}}, marks + "b" + marks), marks + "b" + marks);
  EXPECT_TELLS(ChangedBy({{"type", "NFD"}}, marks + "\xcc\xa3"),
               "a character has too many marks; got 1025 or more, expected 1024 at most");
#else
  EXPECT_TELLS(ChangedBy({{"type", "NFC"}}, ""), "this build has no normal forms of Unicode; got NFC");
#endif
}

// A map whose trie has the sequences "a" and "ab", by hand. A unit has the byte of its node, bit 8 where a
// value is behind it, and its offset above bit 10; a value has bit 31.
std::string SmallMap(uint32_t text_of_ab = 2) {
  std::vector<uint32_t> units(512, 0);
  const auto node = [](uint8_t byte, bool has_value, uint32_t offset) {
    return uint32_t(byte) | (has_value ? 1u << 8 : 0) | offset << 10;
  };
  units[0] = node(0, false, 0);
  units['a'] = node('a', true, 'a' ^ 256);              // its children are at 256 ^ byte
  units[256] = 0x80000000;                              // "a" becomes the text at 0
  units[256 ^ 'b'] = node('b', true, (256 ^ 'b') ^ 5);  // its value is at 5
  units[5] = 0x80000000 | text_of_ab;
  std::string map;
  const auto append = [&](uint32_t number) {
    for (int i = 0; i < 4; ++i) map += char(number >> (8 * i) & 0xff);
  };
  append(uint32_t(units.size() * 4));
  for (const uint32_t unit : units) append(unit);
  return map + std::string("x\0yz\0", 5);
}

TEST(CharacterMap, ChangesTheLongestSequence) {
  const auto map = CharacterMap::Parse(SmallMap());
  ASSERT_TRUE(map);
  EXPECT_EQ(map->Changed("aabb\xc3\xa4 a"), "xyzb\xc3\xa4 x");
  EXPECT_EQ(map->Changed(""), "");
  EXPECT_EQ(map->Changed(std::string("a\0b", 3)), std::string("x\0b", 3));
}

TEST(CharacterMap, DamagedOnesAreErrors) {
  const std::string whole = SmallMap();
  for (const size_t size : {0, 3, 4, 100, 2051})
    EXPECT_FALSE(CharacterMap::Parse(whole.substr(0, size))) << size;
  EXPECT_TELLS(CharacterMap::Parse(SmallMap(99))->Changed("ab"),
               "leads out of its texts; got place 99, expected one below 5");
  for (size_t i = 0; i < whole.size(); ++i) {  // no place of the trie leads out of it
    std::string damaged = whole;
    damaged[i] = char(0xff);
    const auto map = CharacterMap::Parse(damaged);
    if (map) try {
        EXPECT_LT(map->Changed("abaab").size(), 100u);
      } catch (const Error&) {}
  }
}

TEST(CharacterMap, IsBase64InAFile) {
  EXPECT_EQ(ChangedBy({{"type", "Precompiled"}, {"precompiled_charsmap", nullptr}}, "ab"), "ab");
  EXPECT_TELLS(ChangedBy({{"type", "Precompiled"}, {"precompiled_charsmap", "A*"}}, ""),
               "no map of characters; got A*");
  EXPECT_TELLS(ChangedBy({{"type", "Precompiled"}, {"precompiled_charsmap", "AAAA"}}, ""),
               "no map of characters");
  // A trie of one unit, which leads nowhere.
  EXPECT_EQ(ChangedBy({{"type", "Precompiled"}, {"precompiled_charsmap", "BAAAAAAAAAA="}}, "ab"), "ab");
}

}  // namespace
}  // namespace mete
