#include "costs/starts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/errors_testing.h"
#include "base/json.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

StartCosts Example() {
  StartCosts costs;
  costs.resident = {4.5, 0.1, 7, {0, 0, 0, 4.5}};
  costs.killed = {40, 2, 7, {9, 11, 12, 8}};
  costs.cold = StartCost{90, 5, 6, {30, 22, 25, 13}};
  costs.without_weights = StartCost{55, 3, 7, {9, 11, 27, 8}};
  return costs;
}

// Returns the JSON of Example() with one more or another value.
std::string With(const char* pointer, const Json& value) {
  Json j = Json::parse(ToJson(Example()));
  j[Json::json_pointer(pointer)] = value;
  return j.dump();
}

TEST(StartCosts, StepsAddUp) { EXPECT_DOUBLE_EQ(Example().killed.steps.ms(), 40); }

TEST(StartCosts, AreReadAsTheyWereWritten) {
  EXPECT_EQ(StartCostsFromJson(ToJson(Example()), "s.json"), Example());
  EXPECT_FALSE(StartCostsFromJson(ToJson(Example()), "s.json").evicted);
}

TEST(StartCosts, WhatIsWrongIsNamed) {
  const auto read = [](const std::string& text) { StartCostsFromJson(text, "s.json"); };
  EXPECT_TELLS(read("{"), "[s.json] no costs of starts");
  EXPECT_TELLS(read("[]"), "[s.json] the costs of starts");
  EXPECT_TELLS(read(With("/format", "mete start costs 0")), "got \"mete start costs 0\"");
  EXPECT_TELLS(read(With("/resident", nullptr)), "[s.json] resident");
  EXPECT_TELLS(read(With("/killed/ms", -1)), "the state 'killed' is not believed; got -1");
  EXPECT_TELLS(read(With("/cold/steps/load_ms", 1e300)), "the state 'cold' is not believed");
  EXPECT_TELLS(read(With("/cold/steps/load_ms", "soon")), "no costs of starts");
  EXPECT_TELLS(read(With("/killed/starts", 0)), "[s.json] starts is out of range; got 0");
  EXPECT_TELLS(read(std::string(1 << 17, ' ')), "too large; got 131072 bytes");
  StartCosts wrong = Example();
  wrong.cold->mad_ms = NAN;
  EXPECT_TELLS(Verify(wrong, "s"), "[s] the state 'cold'");
}

}  // namespace
}  // namespace mete
