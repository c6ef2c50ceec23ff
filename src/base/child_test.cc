#include "base/child.h"

#include <gtest/gtest.h>

#include "base/clock_testing.h"
#include "mete/engine.h"

namespace mete {
namespace {

TEST(Child, AProgramThatCannotBeStartedHasAStatus) {
  FakeClock clock;
  Child child("/nonexistent/program", {}, Child::WhenFull::kWait, clock);
  ASSERT_TRUE(child.EndsBefore(clock.Now() + std::chrono::milliseconds(300)));
  EXPECT_EQ(child.status(), 127);
}

TEST(Child, ACancelledWaitIsOverBeforeItsDeadline) {
  FakeClock clock;  // which stands still
  CancelToken cancel;
  cancel.Cancel();
  Child child("/bin/sleep", {"1000"}, Child::WhenFull::kWait, clock, &cancel);
  std::string text;
  child.Read(text, 100, "", clock.Now() + std::chrono::hours(1));
  EXPECT_EQ(text, "");
  EXPECT_FALSE(child.EndsBefore(clock.Now() + std::chrono::hours(1)));
}

constexpr std::chrono::minutes kLong{1};  // for what takes milliseconds, on a busy machine

TEST(Child, AnswersWhatIsWritten) {
  Clock& clock = Clock::Steady();
  Child child("/bin/cat", {}, Child::WhenFull::kWait, clock, nullptr, {.has_input = true});
  EXPECT_GT(child.pid(), 0);
  std::string text;
  for (const std::string line : {"one\n", "two\n"}) {
    ASSERT_TRUE(child.Write(line));
    child.Read(text, 100, line, clock.Now() + kLong);
  }
  EXPECT_EQ(text, "one\ntwo\n");
  child.CloseInput();
  ASSERT_TRUE(child.EndsBefore(clock.Now() + kLong));
  EXPECT_EQ(child.status(), 0);
  EXPECT_FALSE(child.Write("three\n"));
}

TEST(Child, HasVariablesInPlaceOfOurs) {
  setenv("METE_TEST_VARIABLE", "ours", 1);
  Clock& clock = Clock::Steady();
  Child child("/bin/sh", {"-c", "echo $METE_TEST_VARIABLE $METE_TEST_OTHER"}, Child::WhenFull::kWait, clock,
              nullptr, {.variables = {"METE_TEST_VARIABLE=its", "METE_TEST_OTHER=own"}});
  std::string text;
  child.Read(text, 100, "", clock.Now() + kLong);
  EXPECT_EQ(text, "its own\n");
  unsetenv("METE_TEST_VARIABLE");
}

TEST(Child, TheLastLineOfWhatItSaidIsShortAndPrintable) {
  EXPECT_EQ(LastLine("first\nsecond\x1b\n\n"), "second?");
  EXPECT_EQ(LastLine(""), "");
  EXPECT_EQ(LastLine(std::string(300, 'x')).size(), 200u);
}

}  // namespace
}  // namespace mete
