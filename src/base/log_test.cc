#include "base/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace mete {
namespace {

class ProgramLogs : public testing::Test {
 protected:
  ~ProgramLogs() override { SetLog({}); }

  // Keeps all lines of the level or above.
  void Keep(LogLevel least) {
    SetLog(
        [this](LogLevel level, std::string_view line) {
          lines_.push_back(std::string(Name(level)) + " " + std::string(line));
        },
        least);
  }

  std::vector<std::string> lines_;
};

TEST_F(ProgramLogs, NobodyIsToldByDefault) {
  EXPECT_FALSE(Logs(LogLevel::kWarning));
  Log(LogLevel::kWarning, "net", "nobody reads this");
}

TEST_F(ProgramLogs, LinesOfTheLevelAndAboveAreTold) {
  Keep(LogLevel::kInfo);
  Log(LogLevel::kDebug, "net", "packed");
  Log(LogLevel::kInfo, "net", "took {} rows", 3);
  Log(LogLevel::kWarning, "net", "no\nfolder");
  EXPECT_EQ(lines_, (std::vector<std::string>{"info [net] took 3 rows", "warning [net] no?folder"}));
  Keep(LogLevel::kDebug);
  Log(LogLevel::kDebug, "net", "packed");
  EXPECT_EQ(lines_.back(), "debug [net] packed");
  SetLog({});
  Log(LogLevel::kWarning, "net", "gone");
  EXPECT_EQ(lines_.size(), 3u);
}

TEST_F(ProgramLogs, WhatTheLogThrowsIsDropped) {
  SetLog([](LogLevel, std::string_view) { throw std::runtime_error("full disk"); });
  Log(LogLevel::kWarning, "net", "is told");
}

TEST_F(ProgramLogs, TheLogMaySetAnother) {
  SetLog([this](LogLevel, std::string_view) { Keep(LogLevel::kInfo); });
  Log(LogLevel::kWarning, "net", "first");
  Log(LogLevel::kWarning, "net", "second");
  EXPECT_EQ(lines_, std::vector<std::string>{"warning [net] second"});
}

TEST_F(ProgramLogs, ThreadsTellAndSetAtOnce) {
  const auto told = std::make_shared<std::atomic<int>>(0);
  const auto count = [told](LogLevel, std::string_view) { ++*told; };
  SetLog(count);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) {
          Log(LogLevel::kInfo, "net", "line {}", i);
          if (i % 10 == 0) SetLog(count);
        }
      });
  }
  EXPECT_EQ(*told, 400);
}

}  // namespace
}  // namespace mete
