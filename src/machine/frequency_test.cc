#include "machine/frequency.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "machine/frequency_testing.h"

namespace mete {
namespace {

using Khz = std::vector<int64_t>;

TEST_F(FrequencyTest, SetsBothLimitsWhereNoGovernorIsOurs) {
  const auto control = Control();
  EXPECT_EQ(control->Khz(1), (Khz{408000, 600000, 1008000, 1416000}));
  for (int64_t khz : {600000, 1416000, 408000, 1008000}) {
    control->Set(1, khz);
    EXPECT_EQ(All("policy0"), fmt::format("ondemand {0} {0}", khz));
  }
}

TEST_F(FrequencyTest, AsksTheGovernorUserspaceWhereItIsOffered) {
  const auto control = Control();
  control->Set(0, 1800000);  // above the upper limit
  EXPECT_EQ(All("policy4"), "userspace 600000 1800000");
  EXPECT_EQ(Of("policy4", "setspeed"), "1800000");
  control->Set(0, 408000);
  EXPECT_EQ(All("policy4"), "userspace 408000 1800000");
  EXPECT_EQ(Of("policy4", "setspeed"), "408000");
}

TEST_F(FrequencyTest, PutsBackInTheEnd) {
  for (const auto& [big, little] :
       std::vector<std::pair<int64_t, int64_t>>{{1800000, 408000}, {408000, 1416000}, {1008000, 1008000}}) {
    const auto control = Control();
    control->Set(0, big);
    control->Set(1, little);
    control->Restore();
    ExpectUntouched();
    EXPECT_TELLS(control->Set(1, little), "put back for good");
  }
  Control()->Set(0, 408000);
  ExpectUntouched();
}

TEST_F(FrequencyTest, PutsBackLimitsThatLieAboveOrBelow) {
  for (const auto& [limits, khz] :
       std::vector<std::pair<const char*, int64_t>>{{"408000", 1416000}, {"1416000", 408000}}) {
    tree_.Write(kCpufreq + "policy0/scaling_min_freq", limits);
    tree_.Write(kCpufreq + "policy0/scaling_max_freq", limits);
    Control()->Set(1, khz);
    EXPECT_EQ(All("policy0"), fmt::format("ondemand {0} {0}", limits));
  }
}

TEST_F(FrequencyTest, PutsBackASpeedThatSomebodyHadSet) {
  tree_.Write(kCpufreq + "policy4/scaling_governor", "userspace");
  tree_.Write(kCpufreq + "policy4/scaling_setspeed", "1008000");
  Control()->Set(0, 1800000);
  EXPECT_EQ(Of("policy4", "setspeed"), "1008000");
}

TEST_F(FrequencyTest, WritesWhatItWasBeforeTheFirstChange) {
  const auto control = Control();
  const auto j = nlohmann::json::parse(std::ifstream(lock()));
  EXPECT_EQ(j["pid"], getpid());
  EXPECT_EQ(j["boot_id"], Get("/proc/sys/kernel/random/boot_id"));
  EXPECT_EQ(j["policies"]["policy4"]["max_khz"], "1608000");
  EXPECT_EQ(All("policy4"), "performance 600000 1608000");
}

TEST_F(FrequencyTest, RefusesFrequenciesThatThereAreNot) {
  EXPECT_TELLS(Control()->Set(1, 1000000),
               "got 1000000 kHz, expected one of 408000, 600000, 1008000, 1416000");
  const RecordedTree bare(kServerTree);
  EXPECT_TELLS(
      FrequencyControl(ReadMachine(bare.root()).clusters, {bare.root(), folder_.str(), WriteAsKernel}),
      "cpufreq does not show");
}

TEST_F(FrequencyTest, NamesTheFileThatItMayNotWrite) {
  g_closed = "policy0/scaling_min_freq";
  EXPECT_TELLS(Control()->Set(1, 408000),
               kCpufreq + "policy0/scaling_min_freq] cannot set the frequency to 408000; Permission denied");
  g_closed.clear();
  const auto control = Control();
  control->Set(0, 408000);
  g_closed = "policy4/scaling_governor";
  EXPECT_TELLS(control->Restore(), "scaling_governor] cannot put the frequency back; Permission denied");
  EXPECT_EQ(Of("policy4", "max_freq"), "1608000");  // the other files are restored
}

TEST_F(FrequencyTest, NeedsAFolderForItsLock) {
  EXPECT_TELLS(FrequencyControl(machine_.clusters, {tree_.root(), "", WriteAsKernel}), "no folder");
  EXPECT_TELLS(FrequencyControl(machine_.clusters, {tree_.root(), "/dev/null/x", WriteAsKernel}),
               "frequencies are not changed without it");
  ExpectUntouched();
}

TEST_F(FrequencyTest, SaysBeforehandWhyItCannotSet) {
  EXPECT_EQ(WhyFrequenciesStay(machine_.clusters, tree_.root()), "");
  std::filesystem::remove(tree_.root() + "/" + kCpufreq + "policy0/scaling_min_freq");
  EXPECT_EQ(WhyFrequenciesStay(machine_.clusters, tree_.root()),
            "/" + kCpufreq + "policy0/scaling_min_freq cannot be written: No such file or directory");
  const RecordedTree bare(kServerTree);
  const Machine machine = ReadMachine(bare.root());
  EXPECT_NE(WhyFrequenciesStay(machine.clusters, bare.root()).find("cpufreq does not show the policies"),
            std::string::npos);
}

TEST_F(FrequencyTest, ExpectsTheUpperLimitUnderLoadWhereNobodySets) {
  EXPECT_EQ(FixedFrequencies(machine_.clusters).Khz(1), Khz{1416000});  // the current frequency is 600000
  EXPECT_EQ(LoadedKhz({.limit_khz = 9, .current_khz = 5, .governor = "userspace"}), 5);
  EXPECT_EQ(LoadedKhz({.current_khz = 5, .governor = "ondemand"}), 5);
  EXPECT_EQ(LoadedKhz({}), 0);
}

TEST_F(FrequencyTest, IsOneAtATime) {
  const auto control = Control();
  EXPECT_TELLS(Control(), "one at a time");
}

// A governor's tunables, below cpufreq or below one policy.
class TunablesTest : public FrequencyTest {
 protected:
  // Writes as the kernel does: when the governor changes, the tunables of the old one are lost and the new
  // one has its defaults.
  static bool WriteForgetting(const char* path, const char* text) {
    const std::filesystem::path file = path;
    if (file.filename() == "scaling_governor" && Get(path) != text) {
      for (const auto& folder : {file.parent_path(), file.parent_path().parent_path()}) {
        std::filesystem::remove_all(folder / Get(path));
        if (text != std::string("conservative")) continue;
        std::filesystem::create_directories(folder / text);
        for (const char* name : {"up_threshold", "freq_step", "odd"})
          std::ofstream(folder / text / name) << "80\n";
        std::ofstream(folder / text / "sampling_rate_min") << "10000\n";
        std::ofstream(folder / text / "down_threshold") << "20\n";
      }
    }
    const auto now = [&](const char* other) { return std::stoi(Get(file.parent_path() / other)); };
    if (file.filename() == "down_threshold" && std::stoi(text) >= now("up_threshold"))
      return FailWith(EINVAL);
    if (file.filename() == "up_threshold" && std::stoi(text) <= now("down_threshold"))
      return FailWith(EINVAL);
    if (file.filename() == "odd") return FailWith(EINVAL);
    return WriteAsKernel(path, text);
  }

  void Tune(const std::string& folder, const char* up = "95\n", const char* down = "20\n") {
    tree_.Write(kCpufreq + "policy4/scaling_available_governors", "conservative userspace\n");
    tree_.Write(kCpufreq + "policy4/scaling_governor", "conservative\n");
    for (const auto& [name, text] :
         {std::pair("up_threshold", up), std::pair("freq_step", "7\n"), std::pair("odd", "80\n"),
          std::pair("sampling_rate_min", "20000\n"), std::pair("down_threshold", down)})
      tree_.Write(kCpufreq + folder + name, text);
    std::filesystem::permissions(tree_.root() + "/" + kCpufreq + folder + "sampling_rate_min",
                                 std::filesystem::perms(0444));
  }
  std::string Tuned(const std::string& folder) const {
    std::string all;
    for (const char* name : {"up_threshold", "freq_step"})
      all += Get(tree_.root() + "/" + kCpufreq + folder + name) + " ";
    return all;
  }
};

TEST_F(TunablesTest, ArePutBackAfterTheirGovernor) {
  for (const std::string folder : {"conservative/", "policy4/conservative/"}) {
    Tune(folder);
    const auto control = Control(WriteForgetting);
    const auto saved = nlohmann::json::parse(std::ifstream(lock()))["policies"]["policy4"]["tunables"];
    EXPECT_EQ(
        saved,
        (nlohmann::json{{"up_threshold", "95"}, {"down_threshold", "20"}, {"freq_step", "7"}, {"odd", "80"}}))
        << "what may not be written stays out";
    control->Set(0, 1008000);
    EXPECT_EQ(Of("policy4", "governor"), "userspace");
    EXPECT_EQ(Tuned(folder), "  ");
    control->Restore();
    EXPECT_EQ(Of("policy4", "governor"), "conservative");
    EXPECT_EQ(Tuned(folder), "95 7 ");
    std::filesystem::remove_all(tree_.root() + "/" + kCpufreq + folder);
  }
}

TEST_F(TunablesTest, ArePutBackWhateverTheirOrder) {
  // the kernel's defaults are 80 and 20
  for (const auto& [up, down] : {std::pair("95", "85"), std::pair("15", "10")}) {
    Tune("policy4/conservative/", up, down);
    const auto control = Control(WriteForgetting);
    control->Set(0, 1008000);
    control->Restore();
    EXPECT_EQ(Tuned("policy4/conservative/"), up + std::string(" 7 "));
    EXPECT_EQ(Get(tree_.root() + "/" + kCpufreq + "policy4/conservative/down_threshold"), down);
  }
}

TEST_F(TunablesTest, KeepFrequenciesFromBeingSetWhereOneCouldNotBePutBack) {
  const std::string folder = "conservative/", root = tree_.root() + "/" + kCpufreq + folder;
  for (const auto& [name, text] :
       {std::pair("loads", std::string(256, '1')), std::pair("loads", std::string("1\t2")),
        std::pair("a b", std::string("1"))}) {
    Tune(folder);
    tree_.Write(kCpufreq + folder + name, text);
    EXPECT_TELLS(Control(WriteForgetting), std::string(name) + "] could not be put back");
    EXPECT_FALSE(std::filesystem::exists(lock()));
    std::filesystem::remove_all(root);
  }
  for (int i = 0; i < 65; ++i) tree_.Write(kCpufreq + folder + "t" + std::to_string(i), "1");
  EXPECT_TELLS(Control(WriteForgetting), "t64] could not be put back");
}

TEST_F(TunablesTest, AreNamedWhereTheyCannotBePutBack) {
  Tune("conservative/");
  const auto control = Control(WriteForgetting);
  control->Set(0, 1008000);
  g_closed = "conservative/freq_step";
  EXPECT_TELLS(control->Restore(),
               "conservative/freq_step] cannot put the frequency back; Permission denied");
  EXPECT_EQ(Tuned("conservative/"), "95 80 ");
}

class HeatTest : public FrequencyTest {
 protected:
  void Cool(const char* type, const char* state) const {
    tree_.Write("sys/class/thermal/cooling_device2/type", type);
    tree_.Write("sys/class/thermal/cooling_device2/cur_state", state);
  }
};

// Otherwise the limit in force would later be restored as if it was the user's.
TEST_F(HeatTest, KeepsFrequenciesFromBeingSet) {
  for (const char* type : {"cpufreq-cpu4", "thermal-cpufreq-1", "Processor"}) {
    Cool(type, "3");
    const std::string why = fmt::format("cooling_device2 ({}) in state 3 holds clocks down for heat", type);
    EXPECT_TELLS(Control(), "[frequency] " + why);
    EXPECT_NE(WhyFrequenciesStay(machine_.clusters, tree_.root()).find(why), std::string::npos);
    ExpectUntouched();
  }
}

TEST_F(HeatTest, IsNoneWhereNothingHoldsClocksDown) {
  for (const auto& [type, state] :
       {std::pair("cpufreq-cpu4", "0"), std::pair("gpu-devfreq", "3"), std::pair("cpufreq-cpu4", "hot")}) {
    Cool(type, state);
    EXPECT_EQ(WhyFrequenciesStay(machine_.clusters, tree_.root()), "");
    Control()->Set(0, 408000);
    ExpectUntouched();
  }
}

TEST(SpreadKhz, GoesFromTheLeastToTheMost) {
  EXPECT_EQ(SpreadKhz(400000, 1800000, 8),
            (Khz{400000, 600000, 800000, 1000000, 1200000, 1400000, 1600000, 1800000}));
  EXPECT_EQ(SpreadKhz(1000, 1000, 8), Khz{1000});
  EXPECT_EQ(SpreadKhz(1000, 3500, 8), (Khz{1000, 2250, 3500}));
  EXPECT_EQ(SpreadKhz(0, 5, 8), Khz{});
  EXPECT_EQ(SpreadKhz(6, 5, 8), Khz{});
}

TEST(AvailableKhz, SpreadsWhereTheDriverListsNone) {
  const RecordedTree tree(
      "cpufreq/policy0/cpuinfo_min_freq = 800000\ncpufreq/policy0/cpuinfo_max_freq = 5000000");
  Sysfs sysfs(tree.root());
  const Khz list = AvailableKhz(sysfs, "policy0");
  ASSERT_EQ(list.size(), 8u);
  EXPECT_EQ(list.front(), 800000);
  EXPECT_EQ(list.back(), 5000000);
  EXPECT_EQ(AvailableKhz(sysfs, "policy1"), Khz{});
}

}  // namespace
}  // namespace mete
