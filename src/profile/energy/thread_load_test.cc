#include "profile/energy/thread_load.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"

namespace mete {
namespace {

TEST(ThreadLoad, ComputesUntilItIsStopped) {
  const Machine machine = ReadMachine();
  ThreadLoad load(machine);
  const std::vector<int> cores{machine.clusters[0].cores[0]};
  for (const ReuseLoad& what : {ReuseLoad{0}, ReuseLoad{32}, ReuseLoad{128, true}}) {
    load.Start(cores, what);
    const double first = load.Flops();
    EXPECT_GT(first, 0);
    while (load.Flops() == first) std::this_thread::yield();
    load.Stop();
    EXPECT_EQ(load.Flops(), 0);
  }
  EXPECT_TELLS(load.Start({kMostCores}, {}), "no thread can compute on core 4096");
}

TEST(ThreadLoad, ReadsFarMoreThanTheCachesHold) {
  constexpr int64_t kMiB = 1 << 20;
  Machine machine;
  machine.clusters = {{"c", {0}}};
  EXPECT_EQ(BytesPerThread(machine, 1), 64 * kMiB);
  machine.clusters[0].caches = {{1, 32 << 10, {}}, {3, 32 * kMiB, {}}};
  EXPECT_EQ(BytesPerThread(machine, 1), 128 * kMiB);
  EXPECT_EQ(BytesPerThread(machine, 4), 32 * kMiB);
  EXPECT_EQ(BytesPerThread(machine, 100), 16 * kMiB);
  machine.clusters[0].caches[1].bytes = int64_t{1} << 40;
  EXPECT_EQ(BytesPerThread(machine, 1), 512 * kMiB);
}

}  // namespace
}  // namespace mete
