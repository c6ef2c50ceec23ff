#include "machine/machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temp_path_testing.h"
#include "mete/error.h"

namespace mete {
namespace {

void Write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text << "\n";
}

TEST(ReadMachine, GroupsCoresIntoClustersFastestFirst) {
  const TempPath temp;
  const std::filesystem::path root = temp.str();
  Write(root / "proc/cpuinfo", "processor : 0\nmodel name\t: Toy big.LITTLE");
  Write(root / "proc/meminfo", "MemTotal:        2048 kB");
  const auto cpus = root / "sys/devices/system/cpu";
  Write(cpus / "online", "0-3");
  for (int c = 0; c < 4; ++c) {
    Write(cpus / ("cpu" + std::to_string(c)) / "cpu_capacity", c < 2 ? "400" : "1024");
    Write(cpus / ("cpu" + std::to_string(c)) / "cpufreq/cpuinfo_max_freq", c < 2 ? "1400000" : "2000000");
  }
  Write(cpus / "cpu2/cache/index0/level", "1");
  Write(cpus / "cpu2/cache/index0/type", "Data");
  Write(cpus / "cpu2/cache/index0/size", "64K");
  const Machine m = ReadMachine(root.string());
  Verify(m);
  EXPECT_EQ(m.name, "Toy big.LITTLE");
  EXPECT_EQ(m.memory_bytes, 2048 * 1024);
  ASSERT_EQ(m.clusters.size(), 2u);
  EXPECT_EQ(m.clusters[0].cores, (std::vector<int>{2, 3}));
  EXPECT_EQ(m.clusters[0].max_frequency_khz, 2000000);
  EXPECT_EQ(m.clusters[0].l1_bytes, 64 * 1024);
  EXPECT_EQ(m.clusters[1].cores, (std::vector<int>{0, 1}));
}

TEST(ReadMachine, TakesTheBoardsNameWhereTheProcessorHasNone) {
  const TempPath temp;
  const std::filesystem::path root = temp.str();
  Write(root / "proc/cpuinfo", "processor : 0\nCPU implementer\t: 0x41");
  Write(root / "proc/device-tree/model", std::string("Toy Board\0", 10));
  EXPECT_EQ(ReadMachine(root.string()).name, "Toy Board");
}

TEST(ReadMachine, GivesOneCoreWhereNothingCanBeRead) {
  const Machine m = ReadMachine("/nonexistent");
  Verify(m);
  EXPECT_EQ(m.cores(), 1);
}

TEST(ReadMachine, ReadsThisMachine) { Verify(ReadMachine()); }

TEST(VerifyMachine, RefusesContradictions) {
  EXPECT_THROW(Verify(Machine{"none", {}, 0}), Error);
  EXPECT_THROW(Verify(Machine{"twice", {{"a", {0}}, {"b", {0}}}, 0}), Error);
  EXPECT_THROW(Verify(Machine{"empty", {{"a", {}}}, 0}), Error);
}

}  // namespace
}  // namespace mete
