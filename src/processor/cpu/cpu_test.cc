#include "processor/cpu/cpu.h"

#include <gtest/gtest.h>

#include "machine/machine.h"

namespace mete {
namespace {

TEST(Cpu, ItsCallerRunsOnTheFastestCore) {
  const std::vector<int> allowed = ReadMachine().affinity.allowed;
  if (allowed.size() < 2) GTEST_SKIP() << "this process may use one core";
  SessionOptions options = SessionOptions::Estimated(2);
  options.cores = {allowed[0], allowed[1]};
  options.speeds = {0.5, 1};
  EXPECT_EQ(Cpu("cpu", options).CallerCore(), allowed[1]);
  options.speeds = {1, 0.5};
  EXPECT_EQ(Cpu("cpu", options).CallerCore(), allowed[0]);
}

TEST(Cpu, ItsCallerIsNotPinnedIfItHasNoCores) {
  EXPECT_EQ(Cpu("cpu", SessionOptions::Estimated(1)).CallerCore(), -1);
}

}  // namespace
}  // namespace mete
