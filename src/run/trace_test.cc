#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "mete/engine.h"

namespace mete {
namespace {

Trace Example() {
  Trace t;
  t.events = {{"in", "Transpose", 0, 0, 1000, 0, true},  {"a", "Conv", 0, 1000, 5000, 8000}, {"[wait]", "a", 0, 4000, 5000, 0},
              {"b", "Conv", 0, 5000, 7000, 4000}, {"c", "Relu", 0, 7000, 8000, 0}};
  t.total_ns = 9000;
  return t;
}

// The line of a table that begins with `name`.
std::string Line(const std::string& table, const std::string& name) {
  const size_t at = table.find("\n" + name);
  return at == std::string::npos ? "" : table.substr(at + 1, table.find('\n', at + 1) - at - 1);
}

TEST(Trace, CountsWaitingApartFromItsNode) {
  const std::string table = Example().Table();
  EXPECT_NE(Line(table, "a ").find("3.0"), std::string::npos) << table;
  EXPECT_NE(Line(table, "[wait]").find("1.0"), std::string::npos);
  EXPECT_NE(Line(table, "[layout]").find("1.0"), std::string::npos);
  EXPECT_NE(Line(table, "[other]").find("1.0"), std::string::npos);
  EXPECT_NE(Line(table, "total").find("9.0"), std::string::npos);
}

// Of a trace with several workers, as simulations have, the brackets are those of the thread that called.
TEST(Trace, OtherWorkersAreNotTimeOfTheCallers) {
  Trace t = Example();
  t.events.push_back({"a", "Conv", 1, 1000, 5000, 8000});
  t.events.push_back({"[wait]", "a", 1, 2000, 5000, 0});
  EXPECT_EQ(Line(t.Table(), "[wait]"), Line(Example().Table(), "[wait]"));
  EXPECT_EQ(Line(t.Table(), "[other]"), Line(Example().Table(), "[other]"));
}

TEST(Trace, PutsTheMostExpensiveFirstAndSumsUpTheRest) {
  const std::string table = Example().Table(1);
  EXPECT_NE(table.find("\na "), std::string::npos);
  EXPECT_EQ(table.find("\nb "), std::string::npos);
  EXPECT_NE(Line(table, "(2 more)").find("3.0"), std::string::npos) << table;
}

TEST(Trace, KeepsTheShorterTimeOfEachNode) {
  Trace first, second;
  first.events = {{"a", "Conv", 0, 0, 5000}, {"[wait]", "a", 0, 4000, 5000}, {"b", "Relu", 0, 5000, 6000}};
  second.events = {{"a", "Conv", 0, 0, 3000}, {"b", "Relu", 0, 3000, 7000}};
  first.KeepLeast(second);
  ASSERT_EQ(first.events.size(), 2u);
  EXPECT_EQ(first.events[0].end_ns - first.events[0].start_ns, 3000);
  EXPECT_EQ(first.events[1].end_ns - first.events[1].start_ns, 1000);
}

TEST(Trace, GroupsByOperator) {
  const std::string table = Example().TableByOperator();
  EXPECT_NE(Line(table, "2 nodes").find("5.0"), std::string::npos) << table;
  EXPECT_NE(Line(table, "2 nodes").find("2.4"), std::string::npos) << table;  // 12000 operations in 5 us
}

TEST(Trace, WritesATimelineThatParses) {
  Trace t = Example();
  t.events[1].name = "a \"quoted\" \xff name";
  const auto json = nlohmann::json::parse(t.ChromeJson());
  EXPECT_EQ(json.at("traceEvents").size(), 5u + 4u);
  EXPECT_EQ(json.at("traceEvents")[2].at("cat"), "wait");
  EXPECT_EQ(json.at("traceEvents")[3].at("dur"), 2.0);
}

}  // namespace
}  // namespace mete
