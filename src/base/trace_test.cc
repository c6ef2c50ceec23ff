#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "mete/engine.h"

namespace mete {
namespace {

Trace Example() {
  Trace t;
  t.events = {{"in", "Transpose", 0, 0, 1000, 0, true},
              {"a", "Conv", 0, 1000, 5000, 8000},
              {"[wait]", "a", 0, 4000, 5000, 0},
              {"b", "Conv", 0, 5000, 7000, 4000},
              {"c", "Relu", 0, 7000, 8000, 0}};
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

// The events of a timeline that are of this kind.
std::vector<nlohmann::json> Events(const Trace& trace, const std::string& ph) {
  const auto json = nlohmann::json::parse(trace.ChromeJson());
  std::vector<nlohmann::json> events;
  for (const auto& e : json.at("traceEvents"))
    if (e.at("ph") == ph) events.push_back(e);
  return events;
}

TEST(Trace, WritesATimelineThatParses) {
  Trace t = Example();
  t.events[1].name = "a \"quoted\" \xff name";
  const auto slices = Events(t, "X");
  ASSERT_EQ(slices.size(), 5u);
  EXPECT_EQ(slices[2].at("cat"), "wait");
  EXPECT_EQ(slices[3].at("dur"), 2.0);
  EXPECT_EQ(Events(t, "C").size(), 4u);
}

TEST(Trace, HasCountersOverTime) {
  Trace t = Example();
  const size_t before = Events(t, "C").size();
  t.counters = {{"power", "W", {{0, 3.5}, {2000, 4}}}};
  const auto counts = Events(t, "C");
  ASSERT_EQ(counts.size(), before + 2);
  EXPECT_EQ(counts[before].at("name"), "power");
  EXPECT_EQ(counts[before].at("args").at("W"), 3.5);
  EXPECT_EQ(counts[before + 1].at("ts"), 2.0);
}

TEST(Trace, NamesProcessAndLanesOfATimeline) {
  Trace t = Example();
  // the last two took no part
  t.process = "net";
  t.lanes = {"thread 0, core 4", "thread 1, core 5", "thread 2, core 6"};
  std::vector<std::string> names;
  for (const auto& e : Events(t, "M")) {
    EXPECT_GT(e.at("pid"), 0);
    if (e.at("name") == "process_name" || e.at("name") == "thread_name")
      names.push_back(e.at("args").at("name"));
    if (e.contains("tid")) {
      EXPECT_GT(e.at("tid"), 0);
    }
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"net", "thread 0, core 4", "thread 1, core 5", "thread 2, core 6"}));
}

TEST(Trace, DrawsAnArrowFromWhoeverIsWaitedFor) {
  Trace t;
  t.events = {{"a", "Conv", 0, 0, 9000},      {"[wait]", "a", 0, 5000, 9000}, {"a", "Conv", 1, 1000, 8000},
              {"[wait]", "a", 1, 3000, 8000}, {"a", "Conv", 2, 2000, 8000},   {"b", "Relu", 0, 9000, 9500}};
  const auto from = Events(t, "s"), to = Events(t, "f");
  ASSERT_EQ(from.size(), 2u);
  ASSERT_EQ(to.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(from[i].at("tid"), 3);  // worker 2 is done last
    EXPECT_EQ(from[i].at("ts"), 7.999);
    EXPECT_EQ(from[i].at("id"), to[i].at("id"));
    EXPECT_EQ(to[i].at("bp"), "e");
  }
  EXPECT_EQ(to[0].at("tid"), 1);
  EXPECT_EQ(to[0].at("ts"), 8.999);
  EXPECT_EQ(to[1].at("tid"), 2);
}

TEST(Trace, TablesFitTheTerminal) {
  Trace t = Example();
  for (TraceEvent& e : t.events)
    if (!e.waits()) e.name = "features.denseblock3.denselayer12." + e.name;
  std::istringstream lines(t.Table(0, 50) + t.TableByOperator(50));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 50u) << line;
}

}  // namespace
}  // namespace mete
