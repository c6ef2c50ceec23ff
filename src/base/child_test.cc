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

TEST(Child, TheLastLineOfWhatItSaidIsShortAndPrintable) {
  EXPECT_EQ(LastLine("first\nsecond\x1b\n\n"), "second?");
  EXPECT_EQ(LastLine(""), "");
  EXPECT_EQ(LastLine(std::string(300, 'x')).size(), 200u);
}

}  // namespace
}  // namespace mete
