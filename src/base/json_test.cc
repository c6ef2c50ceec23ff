#include "base/json.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

std::string Nested(size_t levels, const std::string& open, const std::string& close) {
  std::string text;
  for (size_t i = 0; i < levels; ++i) text += open;
  text += "1";
  for (size_t i = 0; i < levels; ++i) text += close;
  return text;
}

TEST(ParseJson, TakesWhatIsNestedAsDeepAsAllowed) {
  EXPECT_EQ(ParseJson("{\"a\": [1, \"[[[\"]}", "x").dump(), "{\"a\":[1,\"[[[\"]}");
  const std::string lists = Nested(kMostJsonDepth, "[", "]"),
                    objects = Nested(kMostJsonDepth, "{\"a\":", "}");
  EXPECT_EQ(ParseJson(lists, "x").dump(), lists);
  EXPECT_EQ(ParseJson(objects, "x").dump(), objects);
}

TEST(ParseJson, BracketsInTextsAreNoLists) {
  const std::string text = R"(["\\", "a\"[)" + std::string(100, '[') + R"(", "]}"])";
  EXPECT_EQ(ParseJson(text, "x").size(), 3u);
}

TEST(ParseJson, RefusesWhatIsNestedDeeper) {
  const char* words =
      "[x.json] lists and objects are nested too deep; got 65 levels or more, expected 64 at most";
  for (const size_t levels : {size_t{kMostJsonDepth} + 1, size_t{3'000'000}}) {
    EXPECT_TELLS(ParseJson(Nested(levels, "[", "]"), "x.json"), words);
    EXPECT_TELLS(ParseJson(Nested(levels, "{\"a\":", "}"), "x.json"), words);
    EXPECT_TELLS(ParseJson(std::string(levels, '['), "x.json"), words);  // a truncated file
  }
}

TEST(ParseJson, LeavesToTheCallerToSayWhatIsNoJson) {
  for (const char* text : {"", "[", "{]", "nonsense", "\"\xff\""})
    EXPECT_THROW(ParseJson(text, "x"), nlohmann::json::exception) << text;
}

TEST(WholeNumber, TakesThoseInRangeAlone) {
  const auto take = [](const char* text, auto... range) {
    return WholeNumber(ParseJson(text, "x"), "plan", "blocks", range...);
  };
  EXPECT_EQ(take("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(take("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(take("3", 3, 3), 3);
  EXPECT_TELLS(take("9223372036854775808"),
               "[plan] blocks is out of range; got 9223372036854775808, expected -9223372036854775808 to");
  EXPECT_TELLS(take("18446744073709551615", 0, 5), "got 18446744073709551615, expected 0 to 5");
  EXPECT_TELLS(take("-1", 0, 5), "got -1, expected 0 to 5");
  EXPECT_TELLS(take("6", 0, 5), "got 6");
  EXPECT_TELLS(take("1e300"), "blocks must be a whole number; got a broken one");
  EXPECT_TELLS(take("18446744073709551616"), "got a broken one");
  EXPECT_TELLS(take("[1]"), "got a array");
}

TEST(List, IsAListAlone) {
  EXPECT_EQ(List(Json::parse("[1, 2]"), "plan", "blocks").size(), 2u);
  EXPECT_EQ(List(Json::parse("[]"), "plan", "blocks").size(), 0u);
  EXPECT_TELLS(List(Json::parse("3"), "plan", "blocks"), "[plan] blocks must be a list; got a number");
  EXPECT_TELLS(List(Json::parse("{\"a\": 0}"), "plan", "blocks"),
               "[plan] blocks must be a list; got a object");
  EXPECT_TELLS(List(Json::parse("null"), "plan", "blocks"), "got a null");
}

TEST(Object, IsAnObjectAlone) {
  EXPECT_EQ(Object(Json::parse("{\"a\": 0}"), "lock", "policies").size(), 1u);
  for (const char* text : {"3", "[{}]", "null"})
    EXPECT_TELLS(Object(Json::parse(text), "lock", "policies"), "policies must be an object; got a");
}

}  // namespace
}  // namespace mete
