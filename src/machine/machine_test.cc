#include "machine/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "machine/trees_testing.h"
#include "mete/error.h"

namespace mete {
namespace {

using Cores = std::vector<int>;
using Groups = std::vector<Cores>;

Machine Read(const RecordedTree& tree) {
  Machine machine = ReadMachine(tree.root());
  Verify(machine);
  return machine;
}

// Returns whether a note contains this text.
bool Notes(const Machine& machine, const std::string& text) {
  return std::any_of(machine.notes.begin(), machine.notes.end(),
                     [&](const std::string& n) { return n.find(text) != n.npos; });
}

std::string AllNotes(const Machine& machine) {
  std::string all;
  for (const std::string& n : machine.notes) all += n + "\n";
  return all;
}

TEST(ReadMachine, ReadsBigAndLittleCores) {
  const RecordedTree tree(kRk3399Tree);
  const Machine m = Read(tree);
  EXPECT_EQ(m.name, "Toy RK3399 board");
  EXPECT_EQ(m.memory_bytes, int64_t{3930000} * 1024);
  ASSERT_EQ(m.clusters.size(), 2u);
  const Cluster &big = m.clusters[0], &little = m.clusters[1];
  EXPECT_EQ(big.name, "cluster0");
  EXPECT_EQ(big.core, "Cortex-A72");
  EXPECT_EQ(little.core, "Cortex-A53");
  EXPECT_EQ(big.cores, (Cores{4, 5}));
  EXPECT_EQ(little.cores, (Cores{0, 1, 2, 3}));
  EXPECT_EQ(big.capacity, 1);
  EXPECT_EQ(little.capacity, 485.0 / 1024);
  EXPECT_EQ(little.capacity_source, CapacitySource::kCpuCapacity);
  EXPECT_TRUE(big.siblings.empty());
  EXPECT_EQ(m.notes, std::vector<std::string>()) << AllNotes(m);
}

TEST(ReadMachine, ReadsDataCachesAndWhoSharesThem) {
  const RecordedTree tree(kRk3399Tree);
  const Cluster little = Read(tree).clusters[1];
  ASSERT_EQ(little.caches.size(), 2u);
  EXPECT_EQ(little.cache_bytes(1), 32 << 10);
  EXPECT_EQ(little.cache_bytes(2), 512 << 10);
  EXPECT_EQ(little.cache_bytes(3), 0);
  EXPECT_EQ(little.caches[0].shared, (Groups{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(little.caches[1].shared, (Groups{{0, 1, 2, 3}}));
}

TEST(ReadMachine, ReadsFrequenciesOfThePolicy) {
  const RecordedTree tree(kRk3399Tree);
  const Frequency f = Read(tree).clusters[0].frequency;
  EXPECT_EQ(f.min_khz, 408000);
  EXPECT_EQ(f.max_khz, 1800000);
  EXPECT_EQ(f.limit_khz, 1608000);
  EXPECT_EQ(f.current_khz, 1608000);
  EXPECT_EQ(f.governor, "performance");
  EXPECT_EQ(f.policies, std::vector<std::string>{"policy4"});
}

TEST(ReadMachine, ReadsThreeClustersBehindOneCache) {
  const RecordedTree tree(kPhoneTree);
  const Machine m = Read(tree);
  EXPECT_EQ(m.name, "Toy phone");
  ASSERT_EQ(m.clusters.size(), 3u);
  EXPECT_EQ(m.clusters[0].cores, (Cores{7}));
  EXPECT_EQ(m.clusters[1].cores, (Cores{4, 5, 6}));
  EXPECT_EQ(m.clusters[2].cores, (Cores{0, 1, 2, 3}));
  EXPECT_EQ(m.clusters[1].capacity, 801.0 / 1024);
  EXPECT_EQ(m.clusters[1].frequency.policies, std::vector<std::string>{"policy4"});
  EXPECT_TRUE(Notes(m, "sizes of caches are unknown"));
  EXPECT_TRUE(Notes(m, "proc/meminfo"));
}

TEST(ReadMachine, ReadsHybridTypesThreadsAndModules) {
  const RecordedTree tree(kHybridTree);
  const Machine m = Read(tree);
  ASSERT_EQ(m.clusters.size(), 2u) << ToText(m);  // a clock per core and favoured cores split no cluster
  const Cluster &p = m.clusters[0], &e = m.clusters[1];
  EXPECT_EQ(p.core, "P-core");
  EXPECT_EQ(e.core, "E-core");
  EXPECT_EQ(p.cores.size(), 12u);
  EXPECT_EQ(p.siblings, (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}}));
  EXPECT_EQ(e.cores, (Cores{12, 13, 14, 15, 16, 17, 18, 19}));
  EXPECT_TRUE(e.siblings.empty());
  EXPECT_EQ(e.caches[1].shared, (Groups{{12, 13, 14, 15}, {16, 17, 18, 19}}));
  EXPECT_EQ(e.cache_bytes(2), 2048 << 10);
  EXPECT_EQ(p.cache_bytes(2), 1280 << 10);
  EXPECT_EQ(e.caches[2].shared[0].size(), 20u);
  EXPECT_EQ(p.capacity, 1);
  EXPECT_DOUBLE_EQ(e.capacity, 0.78741 * 4.1 / 5.4);
  EXPECT_EQ(e.capacity_source, CapacitySource::kHybridType);
  EXPECT_EQ(p.frequency.max_khz, 5400000);
  EXPECT_EQ(p.frequency.policies.size(), 12u);
  EXPECT_EQ(p.frequency.policies[10], "policy10");
}

TEST(ReadMachine, DividesSocketsByTheirCaches) {
  const RecordedTree tree(kServerTree);
  const Machine m = Read(tree);
  ASSERT_EQ(m.clusters.size(), 2u);
  EXPECT_EQ(m.clusters[0].cores, (Cores{0, 1, 2, 3}));
  EXPECT_EQ(m.clusters[1].cores, (Cores{4, 5, 6, 7}));
  EXPECT_EQ(m.clusters[1].capacity, 1);
  EXPECT_EQ(m.clusters[1].capacity_source, CapacitySource::kEqual);
  EXPECT_EQ(m.clusters[1].frequency.max_khz, 3000000);  // from cpuN/cpufreq: this tree has no policies
  EXPECT_TRUE(m.clusters[1].frequency.policies.empty());
}

TEST(ReadMachine, KeepsToTheCpusetOfAContainer) {
  const RecordedTree tree(kContainerTree);
  const Machine m = Read(tree);
  ASSERT_EQ(m.clusters.size(), 1u);
  EXPECT_EQ(m.clusters[0].cores, (Cores{2, 3, 5}));
  // core 4 is not allowed, so that core 5 does not share its physical core
  EXPECT_EQ(m.clusters[0].siblings, (Groups{{2, 3}}));
  EXPECT_EQ(m.affinity.online.size(), 8u);
  EXPECT_EQ(m.affinity.affinity.size(), 8u);
  EXPECT_EQ(m.affinity.cpuset, (Cores{2, 3, 5}));
  EXPECT_EQ(m.affinity.allowed, (Cores{2, 3, 5}));
}

TEST(ReadMachine, ReadsTheCpusetOfVersion1) {
  const RecordedTree tree(kContainerTree);
  tree.Write("proc/self/cgroup", "4:memory:/a\n3:cpu,cpuset:/a/b\n0::/\n");
  tree.Write("sys/fs/cgroup/cpuset/a/cpuset.effective_cpus", "1,7\n");
  tree.Write("sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-7\n");
  EXPECT_EQ(Read(tree).affinity.allowed, (Cores{1, 7}));
}

TEST(ReadMachine, ReadsTheLeastQuotaOfTheCgroupAndThoseAbove) {
  const RecordedTree tree(kContainerTree);
  EXPECT_EQ(Read(tree).affinity.quota_cores, 0);
  tree.Write("proc/self/cgroup", "0::/a/b\n");
  tree.Write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(Read(tree).affinity.quota_cores, 0);
  tree.Write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  tree.Write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  const Machine m = Read(tree);
  EXPECT_EQ(m.affinity.quota_cores, 1.5);
  EXPECT_EQ(m.default_threads(), 2);  // 1.5 rounded up; the machine has three cores
  tree.Write("sys/fs/cgroup/a/cpu.max", "10 100000\n");
  EXPECT_EQ(Read(tree).default_threads(), 1);
  for (const char* nonsense : {"-5 100000", "100000", "1e400 1", "100000 0", "x y", "nan 1", ""}) {
    tree.Write("sys/fs/cgroup/a/cpu.max", nonsense);
    EXPECT_EQ(Read(tree).affinity.quota_cores, 2) << nonsense;
  }
}

TEST(ReadMachine, ReadsTheQuotaOfVersion1) {
  const RecordedTree tree(kContainerTree);
  tree.Write("proc/self/cgroup", "3:cpu,cpuacct:/a\n");
  tree.Write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n");
  tree.Write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  tree.Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  tree.Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Read(tree).affinity.quota_cores, 0.5);
}

TEST(ReadMachine, LeavesTheMountedCgroupAloneWhereThePathLeadsOutOfIt) {
  const RecordedTree tree(kContainerTree);
  tree.Write("proc/self/cgroup", "0::/../../toy\n");
  EXPECT_EQ(Read(tree).affinity.allowed, (Cores{2, 3, 5}));
}

TEST(ReadMachine, ComparesWithForbiddenCores) {
  const RecordedTree tree(kRk3399Tree);
  tree.Write("proc/self/status", "Cpus_allowed_list:\t0-1\n");
  const Machine m = Read(tree);
  ASSERT_EQ(m.clusters.size(), 1u);
  EXPECT_EQ(m.clusters[0].cores, (Cores{0, 1}));
  EXPECT_EQ(m.clusters[0].capacity, 485.0 / 1024);
}

TEST(ReadMachine, GoesByFrequencyWhereTheKernelCallsAllEqual) {
  const RecordedTree tree(kPhoneTree);
  for (int core = 0; core < 8; ++core)
    tree.Write("sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpu_capacity", "1024");
  const Machine m = Read(tree);
  ASSERT_EQ(m.clusters.size(), 3u);
  EXPECT_EQ(m.clusters[2].capacity_source, CapacitySource::kMaxFrequency);
  EXPECT_DOUBLE_EQ(m.clusters[2].capacity, 1804800.0 / 2841600);
}

TEST(ReadMachine, TakesVirtualCoresThatAreSocketsForOneCluster) {
  const RecordedTree tree(
      "cpu/online = 0-3\ncpu{0-3}/topology/package_cpus_list = $\ncpu{0-3}/cache/index0/level = 3\n"
      "cpu{0-3}/cache/index0/shared_cpu_list = $\n");
  EXPECT_EQ(Read(tree).clusters.size(), 1u);
}

TEST(ReadMachine, FindsMeters) {
  const RecordedTree board(kRk3399Tree), phone(kPhoneTree), laptop(kHybridTree);
  std::vector<Meter> meters = Read(board).meters;
  ASSERT_EQ(meters.size(), 1u);
  EXPECT_EQ(meters[0].kind, Meter::Kind::kIna);
  EXPECT_EQ(meters[0].name, "ina226 VDD_CPU");
  EXPECT_EQ(meters[0].path, "/sys/class/hwmon/hwmon0/power1_input");
  EXPECT_TRUE(meters[0].readable);
  meters = Read(phone).meters;
  ASSERT_EQ(meters.size(), 1u);
  EXPECT_EQ(meters[0].kind, Meter::Kind::kBattery);
  EXPECT_EQ(meters[0].path, "/sys/class/power_supply/battery/current_now");
  meters = Read(laptop).meters;
  ASSERT_EQ(meters.size(), 2u);
  EXPECT_EQ(meters[0].kind, Meter::Kind::kPowercap);
  EXPECT_EQ(meters[0].name, "package-0");
  EXPECT_EQ(meters[1].name, "core");
}

TEST(ReadMachine, FindsSensorsOfThreeChannelsAndOfTheOdroid) {
  const RecordedTree tree(
      "sys/class/hwmon/hwmon3/name = ina3221\nsys/class/hwmon/hwmon3/curr1_input = 300\n"
      "sys/class/hwmon/hwmon3/currents = 1\nsys/bus/i2c/drivers/INA231/3-0040/sensor_name = sensor_arm\n"
      "sys/bus/i2c/drivers/INA231/3-0040/sensor_W = 1.25\n");
  const std::vector<Meter> meters = Read(tree).meters;
  ASSERT_EQ(meters.size(), 2u);
  EXPECT_EQ(meters[0].path, "/sys/class/hwmon/hwmon3/curr1_input");
  EXPECT_EQ(meters[1].name, "sensor_arm");
  EXPECT_EQ(meters[1].kind, Meter::Kind::kIna);
}

TEST(ReadMachine, SaysWhichMetersAreClosed) {
  const RecordedTree tree(kHybridTree);
  // An empty file counts as unreadable, like one that only root may read.
  tree.Write("sys/class/powercap/intel-rapl:0:0/energy_uj", "");
  const Machine m = Read(tree);
  EXPECT_TRUE(m.meters[0].readable);
  EXPECT_FALSE(m.meters[1].readable);
  EXPECT_TRUE(Notes(m, "1 of 2 energy meters cannot be read")) << AllNotes(m);
}

TEST(ReadMachine, GivesOneClusterOfTheAllowedCoresWithoutSys) {
  const RecordedTree tree("proc/self/status = Cpus_allowed_list: 1-3\n");
  const Machine m = Read(tree);
  ASSERT_EQ(m.clusters.size(), 1u);
  EXPECT_EQ(m.clusters[0].cores, (Cores{1, 2, 3}));
  EXPECT_EQ(m.clusters[0].capacity, 1);
  EXPECT_EQ(m.clusters[0].capacity_source, CapacitySource::kEqual);
  EXPECT_TRUE(Notes(m, "sys/devices/system/cpu/online: not told")) << AllNotes(m);
}

TEST(ReadMachine, GivesOneCoreWhereNothingCanBeRead) {
  const Machine m = ReadMachine("/nonexistent");
  Verify(m);
  EXPECT_EQ(m.cores(), 1);
  EXPECT_EQ(m.name, "cpu");
  EXPECT_TRUE(Notes(m, "proc/self/status"));
  EXPECT_TRUE(Notes(m, "no energy meter"));
}

TEST(ReadMachine, DisbelievesNonsense) {
  const std::string garbage[] = {
      "",       "\n",   "-1", "1e9", "99999999999999999999999999",         "0-4294967295",          "3-1",
      "banana", "0,,1", "0-", "-",   std::string("\0\xff\x1b[31m\x80", 8), std::string(200000, '9')};
  const char* files[] = {"online",
                         "cpu4/cpu_capacity",
                         "cpu4/topology/core_cpus_list",
                         "cpu4/topology/package_cpus_list",
                         "cpu4/cache/index0/level",
                         "cpu4/cache/index0/size",
                         "cpu4/cache/index2/shared_cpu_list",
                         "cpufreq/policy4/cpuinfo_max_freq",
                         "cpufreq/policy4/related_cpus"};
  for (const char* file : files) {
    const std::string path = "sys/devices/system/cpu/" + std::string(file);
    const RecordedTree tree(kRk3399Tree);
    for (const std::string& text : garbage) {
      tree.Write(path, text);
      const Machine m = Read(tree);
      EXPECT_EQ(m.cores(), 6) << path << " " << text.substr(0, 20);
      EXPECT_TRUE(Notes(m, path + ": not believed")) << path << " " << text.substr(0, 20) << "\n"
                                                     << AllNotes(m);
      for (const std::string& note : m.notes) EXPECT_EQ(note.find('\x1b'), note.npos);
    }
  }
}

TEST(ReadMachine, DisbelievesSizesThatAreNone) {
  const RecordedTree tree(kRk3399Tree);
  for (const char* text : {"K", "-1K", "1T", "9223372036854775807M", "0x10K"}) {
    tree.Write("sys/devices/system/cpu/cpu4/cache/index2/size", text);
    const Machine m = Read(tree);
    EXPECT_EQ(m.clusters[0].cache_bytes(2), 0) << text;
    EXPECT_TRUE(Notes(m, "cpu4/cache/index2/size: not believed")) << text;
  }
}

TEST(ReadMachine, SurvivesGarbageInProc) {
  const std::string garbage[] = {
      "", std::string(100000, ':'), std::string("\0\xff:\xfe\n\n:", 7), "processor : -1\n",
      "processor : 99999999999999999999\nCPU part : zz\nMemTotal: -4 kB\nCpus_allowed_list: 0-\n"};
  for (const char* path :
       {"proc/cpuinfo", "proc/meminfo", "proc/self/status", "proc/self/cgroup", "proc/device-tree/model"}) {
    const RecordedTree tree(kRk3399Tree);
    for (const std::string& text : garbage) {
      tree.Write(path, text);
      EXPECT_EQ(Read(tree).cores(), 6) << path << " " << text.substr(0, 20);
    }
  }
}

TEST(ReadMachine, TakesTheMaskWhereListsContradictEachOther) {
  const RecordedTree tree(kRk3399Tree);
  tree.Write("proc/self/status", "Cpus_allowed_list:\t8-9\n");
  const Machine m = Read(tree);
  EXPECT_EQ(m.affinity.allowed, (Cores{8, 9}));
  EXPECT_TRUE(Notes(m, "contradict each other"));
}

TEST(ReadMachine, BoundsTheNotesOfADamagedTree) {
  const RecordedTree tree("cpu/online = 0-299\ncpu{0-299}/cpu_capacity = banana\n");
  const Machine m = Read(tree);
  EXPECT_EQ(m.cores(), 300);
  EXPECT_LT(m.notes.size(), 100u);
}

TEST(ReadMachine, ReadsThisMachine) {
  const Machine m = ReadMachine();
  Verify(m);
  EXPECT_EQ(size_t(m.cores()), m.affinity.allowed.size());
}

TEST(MachineText, HasAllInJsonAndALineAClusterInText) {
  const RecordedTree tree(kHybridTree);
  const Machine m = Read(tree);
  const auto j = nlohmann::json::parse(ToJson(m));
  EXPECT_EQ(j["clusters"][1]["core"], "E-core");
  EXPECT_EQ(j["clusters"][1]["capacity_source"], "hybrid type");
  EXPECT_EQ(j["clusters"][1]["caches"][1]["shared"][1][0], 16);
  EXPECT_EQ(j["clusters"][0]["frequency"]["governor"], "powersave");
  EXPECT_EQ(j["clusters"][0]["siblings"].size(), 6u);
  EXPECT_EQ(j["affinity"]["allowed"].size(), 20u);
  EXPECT_EQ(j["meters"][0]["path"], "/sys/class/powercap/intel-rapl:0/energy_uj");
  EXPECT_EQ(j["notes"].size(), m.notes.size());
  const std::string text = ToText(m);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_NE(
      text.find("cluster1: cores 12-19, capacity 0.598 (hybrid type), 4100000 kHz, L1 32 KiB, L2 2048 KiB"),
      text.npos)
      << text;
}

TEST(VerifyMachine, RefusesContradictions) {
  EXPECT_THROW(Verify(Machine{"none", {}, 0}), Error);
  EXPECT_THROW(Verify(Machine{"twice", {{"a", {0}}, {"b", {0}}}, 0}), Error);
  EXPECT_THROW(Verify(Machine{"empty", {{"a", {}}}, 0}), Error);
  EXPECT_THROW(Verify(Machine{"fast", {{"a", {0}, "", 1.5}}, 0}), Error);
  EXPECT_THROW(Verify(Machine{"still", {{"a", {0}, "", 0}}, 0}), Error);
  EXPECT_THROW(Verify(Machine{"sibling", {{"a", {0}, "", 1, CapacitySource::kEqual, {{0, 1}}}}, 0}), Error);
}

TEST(VerifyMachine, ReportsAllAtOnce) {
  try {
    Verify(Machine{"bad", {{"a", {0}, "", 2}, {"b", {0}}, {"c", {}}}, 0});
    FAIL();
  } catch (const Error& e) {
    const std::string text = e.what();
    for (const char* what : {"[a] the capacity", "[b] core 0 is listed twice", "[c] a cluster has no cores"})
      EXPECT_NE(text.find(what), text.npos);
  }
}

}  // namespace
}  // namespace mete
