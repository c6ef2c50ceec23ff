#include "tools/slowcore/control/real_time_limit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temp_path_testing.h"
#include "mete/error.h"

namespace mete::slowcore {
namespace {

class RealTimeLimit : public testing::Test {
 protected:
  void Write(const std::string& runtime, const std::string& period) {
    const std::string folder = root_.str() + "/proc/sys/kernel";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/sched_rt_runtime_us") << runtime << "\n";
    std::ofstream(folder + "/sched_rt_period_us") << period << "\n";
  }
  TempPath root_;
};

TEST_F(RealTimeLimit, ShareOfWhatTheKernelSays) {
  EXPECT_EQ(RealTimeShare(root_.str()), 1);  // no such files
  Write("950000", "1000000");
  EXPECT_EQ(RealTimeShare(root_.str()), 0.95);
  Write("-1", "1000000");
  EXPECT_EQ(RealTimeShare(root_.str()), 1);
  Write("0", "1000000");
  EXPECT_EQ(RealTimeShare(root_.str()), 0);
}

TEST_F(RealTimeLimit, EnoughIsAccepted) {
  Write("950000", "1000000");
  EXPECT_NO_THROW(CheckRealTimeShare({0.05, 200'000}, root_.str()));
  Write("-1", "1000000");
  EXPECT_NO_THROW(CheckRealTimeShare({0.05, 200'000}, root_.str()));
}

TEST_F(RealTimeLimit, TooLittleIsRefusedWithWhatToSet) {
  Write("500000", "1000000");
  EXPECT_NO_THROW(CheckRealTimeShare({0.5, 200'000}, root_.str()));
  try {
    CheckRealTimeShare({0.35, 200'000}, root_.str());
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kFailedPrecondition);
    EXPECT_STREQ(e.what(),
                 "[--speed] the kernel gives real-time threads less of a core than this needs; got "
                 "sched_rt_runtime_us 500000 of 1000000, "
                 "expected 650000 or more, or -1; try a speed of 0.50 or more, or sysctl "
                 "kernel.sched_rt_runtime_us=650000");
  }
}

}  // namespace
}  // namespace mete::slowcore
