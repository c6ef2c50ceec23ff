#include "serve/protocol/data_lists.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"

namespace mete::serve {
namespace {

std::string Cut(const std::string& json) { return CutDataLists(json, {}).text; }

TEST(CutDataLists, TakesListsOutAndKeepsTheRest) {
  const std::string json = R"({"inputs":[{"data":[1,[2,"]\"["]],"name":"data"},{"data" : [ ], "x":[3]}]})";
  const CutJson cut = CutDataLists(json, {});
  EXPECT_EQ(cut.text, R"({"inputs":[{"data":[0],"name":"data"},{"data" : [1], "x":[3]}]})");
  EXPECT_EQ(cut.lists, (std::vector<std::string_view>{R"([1,[2,"]\"["]])", "[ ]"}));
}

TEST(CutDataLists, KnowsAKeyWithEscapesAndLeavesTexts) {
  EXPECT_EQ(Cut(R"({"d\u0061ta":[7,8]})"), R"({"d\u0061ta":[0]})");
  for (const char* json :
       {R"({"data":5})", R"({"data":{"a":[1]}})", R"({"a":"\"data\":[1,2]"})", R"(["data",[1]])",
        R"({"data\\":[1,2]})", R"({"a":"data"})", "", "\"", "{\"data\":", "\"data", "[[["})
    EXPECT_EQ(Cut(json), json);
}

TEST(CutDataLists, RefusesListsWithoutEndAndTooDeepOnes) {
  for (const char* json : {R"({"data":[1,2)", R"({"data":["a])", R"({"data":["a\"])", R"({"data":[[1])"})
    EXPECT_TELLS(Cut(json), "[request] a list of 'data' does not end");
  EXPECT_EQ(Cut(R"({"data":[[[[[[[[1]]]]]]]]})"), R"({"data":[0]})");
  EXPECT_TELLS(Cut(R"({"data":[[[[[[[[[1]]]]]]]]]})"),
               "nested too deep; got 9 levels or more, expected 8 at most");
}

TEST(CutDataLists, BoundsTheRestAndTheNumberOfLists) {
  RequestBounds bounds;
  bounds.json_bytes = 12;
  EXPECT_EQ(CutDataLists(R"({"data":[1,2,3,4,5]})", bounds).text, R"({"data":[0]})");
  EXPECT_TELLS(CutDataLists(R"({"data":[1,2,3,4,5] })", bounds), "got 13 bytes, expected 12 at most");
  EXPECT_TELLS(CutDataLists(std::string(13, ' '), bounds), "is too large; got 13 bytes");
  bounds = {.tensors = 1};
  EXPECT_TELLS(CutDataLists(R"([{"data":[1]},{"data":[2]}])", bounds), "got more than 1, expected 1 at most");
}

TEST(EndOfString, CountsBackslashes) {
  EXPECT_EQ(EndOfString(R"(x"a"y)", 1), 4u);
  EXPECT_EQ(EndOfString(R"("a\"")", 0), 5u);
  EXPECT_EQ(EndOfString(R"("\\")", 0), 4u);
  EXPECT_EQ(EndOfString(R"("\\\")", 0), std::string_view::npos);
  EXPECT_EQ(EndOfString("\"", 0), std::string_view::npos);
}

}  // namespace
}  // namespace mete::serve
