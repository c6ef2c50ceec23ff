#include "base/table.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

using Lines = std::vector<std::string>;

TEST(WrapText, BreaksAtSpacesAndCutsLongWords) {
  EXPECT_EQ(WrapText("one two three", 8), (Lines{"one two", "three"}));
  EXPECT_EQ(WrapText("one\ntwo three", 5), (Lines{"one", "two", "three"}));
  EXPECT_EQ(WrapText("abcdefgh ij", 3), (Lines{"abc", "def", "gh", "ij"}));
  EXPECT_EQ(WrapText("as long as it is", 0), Lines{"as long as it is"});
  EXPECT_EQ(WrapText("", 10), Lines{""});
  EXPECT_EQ(WrapText("  one two three", 9), (Lines{"  one two", "  three"}));
}

TEST(Shortened, KeepsBothEnds) {
  EXPECT_EQ(Shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(Shortened("abcdefghij", 7), "abc..ij");
  EXPECT_EQ(Shortened("äöüäöüäöü", 7), "äöü..öü");
  EXPECT_EQ(Shortened("abc", 1), "a");
}

TEST(FormatTable, LinesUpCharactersNotBytes) {
  EXPECT_EQ(FormatTable({{"a", "n"}, {"größe", "12"}, {"b", "3"}}, {.align = "lr", .indent = "  "}),
            "  a       n\n  größe  12\n  b       3\n");
}

const Rows kRows = {{"node", "within ten percent", "why"},
                    {"a_node_of_a_long_name", "12", "because it is so and not otherwise"}};

TEST(FormatTable, IsAsWideAsItNeedsWhereNothingLimitsIt) {
  EXPECT_EQ(FormatTable(kRows, {.align = "lrw"}),
            "node                   within ten percent  why\n"
            "a_node_of_a_long_name                  12  because it is so and not otherwise\n");
}

TEST(FormatTable, BreaksItsHeaderThenItsLastColumnThenItsNames) {
  EXPECT_EQ(FormatTable(kRows, {.align = "lrw", .columns = 68}),
            "node                    within  why\n"
            "                           ten\n"
            "                       percent\n"
            "a_node_of_a_long_name       12  because it is so and not otherwise\n");
  EXPECT_EQ(FormatTable(kRows, {.align = "lrw", .columns = 58}),
            "node                    within  why\n"
            "                           ten\n"
            "                       percent\n"
            "a_node_of_a_long_name       12  because it is so and not\n"
            "                                otherwise\n");
  EXPECT_EQ(FormatTable(kRows, {.align = "lrw", .columns = 24}),
            "node              within\n"
            "                     ten\n"
            "                 percent\n"
            "a_node_o.._name       12\n"
            "    because it is so and\n"
            "    not otherwise\n");
}

TEST(FormatTable, NoLineIsWiderThanTheTerminalUnlessNumbersAre) {
  for (int columns = 24; columns < 100; ++columns) {
    const std::string text = FormatTable(kRows, {.align = "lrw", .indent = "  ", .columns = columns});
    for (const std::string& line : WrapText(text, 0)) EXPECT_LE(TextWidth(line), size_t(columns)) << text;
  }
}

TEST(FormatTable, RowsMayBeShorterThanTheHeader) {
  EXPECT_EQ(FormatTable({{"a", "b"}, {"1"}}, {.align = "ll"}), "a  b\n1\n");
}

}  // namespace
}  // namespace mete
