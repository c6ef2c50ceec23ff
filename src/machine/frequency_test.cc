#include "machine/frequency.h"

#include <gtest/gtest.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/errors_testing.h"
#include "machine/trees_testing.h"

namespace mete {
namespace {

using Khz = std::vector<int64_t>;

const std::string kCpufreq = "sys/devices/system/cpu/cpufreq/";

// A board of two clusters, of which the fast one may be set by the governor userspace.
const std::string kBoard = std::string(kRk3399Tree) + R"(
cpufreq/policy0/scaling_min_freq = 408000
cpufreq/policy0/scaling_available_governors = ondemand performance
cpufreq/policy0/scaling_available_frequencies = 1416000 408000 600000 1008000
cpufreq/policy4/scaling_min_freq = 600000
cpufreq/policy4/scaling_available_governors = performance userspace
cpufreq/policy4/scaling_setspeed = <unsupported>
cpufreq/policy4/scaling_available_frequencies = 408000 1008000 1800000
)";

std::string Get(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// A kernel that takes no lower limit above the upper one, and nothing at all for the file of that name.
std::string g_closed;

bool WriteAsKernel(const char* path, const char* text) {
  const std::string file = path, folder = file.substr(0, file.rfind('/') + 1), name = file.substr(folder.size());
  if (!g_closed.empty() && file.ends_with(g_closed)) return errno = EACCES, false;
  const auto number = [](const std::string& t) { return std::stoll(t); };
  const auto now = [&](const char* other) { return number(Get(folder + other)); };
  if (name == "scaling_min_freq" && number(text) > now("scaling_max_freq")) return errno = EINVAL, false;
  if (name == "scaling_max_freq" && number(text) < now("scaling_min_freq")) return errno = EINVAL, false;
  if (name == "scaling_setspeed" && Get(folder + "scaling_governor") != "userspace") return errno = EINVAL, false;
  return WriteFrequencyFileOfKernel(path, text);
}

class FrequencyTest : public testing::Test {
 protected:
  std::string Of(const std::string& policy, const char* what) const {
    return Get(tree_.root() + "/" + kCpufreq + policy + "/scaling_" + what);
  }
  std::string All(const std::string& policy) const {
    return Of(policy, "governor") + " " + Of(policy, "min_freq") + " " + Of(policy, "max_freq");
  }
  // Where a signal comes, the real way to write: a handler may not do all that WriteAsKernel does.
  std::unique_ptr<FrequencyControl> Control(WriteFrequencyFile write = WriteAsKernel) const {
    return std::make_unique<FrequencyControl>(machine_.clusters, FrequencyPlaces{tree_.root(), folder_.str(), write});
  }
  std::string lock() const { return folder_.str() + "/frequency.lock"; }
  void ExpectUntouched() const {
    EXPECT_EQ(All("policy0"), "ondemand 408000 1416000");
    EXPECT_EQ(All("policy4"), "performance 600000 1608000");
    EXPECT_FALSE(std::filesystem::exists(lock()));
  }

  void SetUp() override { g_closed.clear(); }

  const RecordedTree tree_{kBoard};
  const TempPath folder_;
  const Machine machine_ = ReadMachine(tree_.root());  // the fast cluster first
};

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
  for (const auto& [big, little] : std::vector<std::pair<int64_t, int64_t>>{{1800000, 408000}, {408000, 1416000}, {1008000, 1008000}}) {
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
  for (const auto& [limits, khz] : std::vector<std::pair<const char*, int64_t>>{{"408000", 1416000}, {"1416000", 408000}}) {
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
  EXPECT_TELLS(Control()->Set(1, 1000000), "got 1000000 kHz, expected one of 408000, 600000, 1008000, 1416000");
  const RecordedTree bare(kServerTree);
  EXPECT_TELLS(FrequencyControl(ReadMachine(bare.root()).clusters, {bare.root(), folder_.str(), WriteAsKernel}), "cpufreq does not show");
}

TEST_F(FrequencyTest, NamesTheFileThatItMayNotWrite) {
  g_closed = "policy0/scaling_min_freq";
  EXPECT_TELLS(Control()->Set(1, 408000), kCpufreq + "policy0/scaling_min_freq] cannot set the frequency to 408000; Permission denied");
  g_closed.clear();
  const auto control = Control();
  control->Set(0, 408000);
  g_closed = "policy4/scaling_governor";
  EXPECT_TELLS(control->Restore(), "scaling_governor] cannot put the frequency back; Permission denied");
  EXPECT_EQ(Of("policy4", "max_freq"), "1608000");  // all else is back
}

TEST_F(FrequencyTest, NeedsAFolderForItsLock) {
  EXPECT_TELLS(FrequencyControl(machine_.clusters, {tree_.root(), "", WriteAsKernel}), "no folder");
  EXPECT_TELLS(FrequencyControl(machine_.clusters, {tree_.root(), "/dev/null/x", WriteAsKernel}), "frequencies are not changed without it");
  ExpectUntouched();
}

TEST_F(FrequencyTest, SaysBeforehandWhyItCannotSet) {
  EXPECT_EQ(WhyFrequenciesStay(machine_.clusters, tree_.root()), "");
  std::filesystem::remove(tree_.root() + "/" + kCpufreq + "policy0/scaling_min_freq");
  EXPECT_EQ(WhyFrequenciesStay(machine_.clusters, tree_.root()),
            "/" + kCpufreq + "policy0/scaling_min_freq cannot be written: No such file or directory");
  const RecordedTree bare(kServerTree);
  const Machine machine = ReadMachine(bare.root());
  EXPECT_NE(WhyFrequenciesStay(machine.clusters, bare.root()).find("cpufreq does not show the policies"), std::string::npos);
}

TEST_F(FrequencyTest, ExpectsTheUpperLimitUnderLoadWhereNobodySets) {
  EXPECT_EQ(FixedFrequencies(machine_.clusters).Khz(1), Khz{1416000});  // 600000 just now
  EXPECT_EQ(LoadedKhz({.limit_khz = 9, .current_khz = 5, .governor = "userspace"}), 5);
  EXPECT_EQ(LoadedKhz({.current_khz = 5, .governor = "ondemand"}), 5);
  EXPECT_EQ(LoadedKhz({}), 0);
}

TEST_F(FrequencyTest, IsOneAtATime) {
  const auto control = Control();
  EXPECT_TELLS(Control(), "one at a time");
}

// A process that sets both clusters, says so, and waits to be ended.
class Child {
 public:
  explicit Child(const std::function<void()>& begin) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const rlimit none{0, 0};
      setrlimit(RLIMIT_CORE, &none);
      begin();
      (void)!write(ends[1], "x", 1);
      for (;;) pause();
    }
    char said;
    close(ends[1]);
    EXPECT_EQ(read(ends[0], &said, 1), 1);
    close(ends[0]);
  }
  ~Child() {
    if (pid_ > 0) End(SIGKILL);
  }

  int End(int signal) {
    int status = 0;
    kill(pid_, signal);
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
  }

 private:
  pid_t pid_;
};

class FrequencySignalsTest : public FrequencyTest {
 protected:
  Child Changer() const {
    return Child([this] {
      FrequencyControl* control = Control(WriteFrequencyFileOfKernel).release();
      control->Set(0, 1800000);
      control->Set(1, 408000);
    });
  }
};

TEST_F(FrequencySignalsTest, PutsBackOnSignals) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    Child child = Changer();
    EXPECT_EQ(All("policy0"), "ondemand 408000 408000");
    EXPECT_EQ(child.End(signal), signal);
    ExpectUntouched();
  }
}

TEST_F(FrequencySignalsTest, CallsTheHandlerThatWasThereBefore) {
  Child child([this] {
    std::signal(SIGINT, [](int) { _exit(7); });
    Control(WriteFrequencyFileOfKernel).release()->Set(1, 408000);
  });
  EXPECT_EQ(child.End(SIGINT), -7);
  ExpectUntouched();
}

TEST_F(FrequencySignalsTest, ChangesNothingAfterASignal) {
  std::signal(SIGTERM, [](int) {});
  {
    const auto control = Control(WriteFrequencyFileOfKernel);
    control->Set(1, 408000);
    raise(SIGTERM);
    ExpectUntouched();
    EXPECT_TELLS(control->Set(1, 408000), "interrupted");
  }
  std::signal(SIGTERM, SIG_DFL);
  ExpectUntouched();
}

TEST_F(FrequencySignalsTest, LeavesToAChildNothingToPutBack) {
  auto control = Control(WriteFrequencyFileOfKernel);
  control->Set(1, 408000);
  Child by_signal([] {});
  EXPECT_EQ(by_signal.End(SIGTERM), SIGTERM);
  Child by_its_end([&] { control.reset(); });
  EXPECT_EQ(by_its_end.End(SIGTERM), SIGTERM);
  EXPECT_EQ(All("policy0"), "ondemand 408000 408000");
  EXPECT_TRUE(std::filesystem::exists(lock()));
  control.reset();
  ExpectUntouched();
}

// A handler that was put over ours, and took it for the one to give back.
TEST_F(FrequencySignalsTest, EndsWhereItsHandlerWasGivenBackTooLate) {
  Child child([this] {
    struct sigaction ours;
    {
      const auto control = Control(WriteFrequencyFileOfKernel);
      sigaction(SIGTERM, nullptr, &ours);
      std::signal(SIGTERM, SIG_IGN);
    }
    sigaction(SIGTERM, &ours, nullptr);
    Control(WriteFrequencyFileOfKernel).release()->Set(1, 408000);
  });
  EXPECT_EQ(child.End(SIGTERM), SIGTERM);
  ExpectUntouched();
}

TEST_F(FrequencySignalsTest, CallsAHandlerOnceThatAskedForThat) {
  Child child([this] {
    struct sigaction once = {};
    once.sa_handler = [](int) {};
    once.sa_flags = int(SA_RESETHAND);
    sigaction(SIGTERM, &once, nullptr);
    Control(WriteFrequencyFileOfKernel).release()->Set(1, 408000);
    raise(SIGTERM);
  });
  EXPECT_EQ(child.End(SIGTERM), SIGTERM);
  ExpectUntouched();
}

TEST_F(FrequencySignalsTest, TheNextStartPutsBackWhatAKilledProcessLeft) {
  EXPECT_EQ(Changer().End(SIGKILL), SIGKILL);
  EXPECT_EQ(All("policy4"), "userspace 600000 1800000");
  {
    const auto control = Control();
    ASSERT_EQ(control->notes().size(), 1u);
    EXPECT_NE(control->notes()[0].find("did not put the frequencies back"), std::string::npos);
    EXPECT_EQ(All("policy4"), "performance 600000 1608000");
  }
  ExpectUntouched();
}

TEST_F(FrequencySignalsTest, KeepsTheLockWhereItCannotPutBack) {
  EXPECT_EQ(Changer().End(SIGKILL), SIGKILL);
  g_closed = "policy4/scaling_max_freq";
  EXPECT_TELLS(Control(), "policy4/scaling_max_freq] cannot put back");
  EXPECT_TELLS(Control(), "what " + lock() + " says, and remove it");
  g_closed.clear();
  EXPECT_EQ(Control()->notes().size(), 1u);
  ExpectUntouched();
}

// When a process started, in the kernel's ticks: the 22nd word, of which the second is in parentheses.
std::string StartIn(const std::string& stat) {
  std::istringstream words(stat.substr(std::min(stat.rfind(')'), stat.size())));
  std::string word;
  for (int i = 2; i <= 22; ++i) words >> word;
  return word;
}

// An emulator of user programs makes up what a process reads of itself.
bool OthersSeeOurStart() {
  const std::string stat = "/proc/" + std::to_string(getpid()) + "/stat", own = StartIn(Get(stat));
  const pid_t child = fork();
  if (child == 0) _exit(StartIn(Get(stat)) == own ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST_F(FrequencySignalsTest, RefusesWhileTheOtherProcessLives) {
  if (!OthersSeeOurStart()) GTEST_SKIP() << "a process does not see its own start as others do, as under an emulator";
  Child child = Changer();
  EXPECT_TELLS(Control(), "still runs");
  EXPECT_EQ(All("policy0"), "ondemand 408000 408000");
}

class FrequencyLockTest : public FrequencyTest {
 protected:
  // What a process with other settings would have left.
  nlohmann::json Left() const {
    const nlohmann::json setting{{"governor", "powersave"}, {"min_khz", "408000"}, {"max_khz", "600000"}, {"speed_khz", ""}};
    return {{"format", "mete frequency lock 1"}, {"boot_id", Get("/proc/sys/kernel/random/boot_id")},
            {"pid", getpid()}, {"start", "1"}, {"policies", {{"policy0", setting}}}};
  }
  void Leave(const std::string& text) const {
    std::filesystem::create_directories(folder_.str());
    std::ofstream(lock()) << text;
  }
};

TEST_F(FrequencyLockTest, KnowsAnotherProcessOfTheSameNumber) {
  Leave(Left().dump());
  Control();
  EXPECT_EQ(All("policy0"), "powersave 408000 600000");
}

TEST_F(FrequencyLockTest, ForgetsWhatWasBeforeTheMachineStarted) {
  nlohmann::json left = Left();
  left["boot_id"] = "another";
  Leave(left.dump());
  EXPECT_EQ(Control()->notes().size(), 0u);
  ExpectUntouched();
}

TEST_F(FrequencyLockTest, RefusesADamagedOne) {
  std::vector<std::string> bad{"", "{", "[]", "{}", "\"x\"", std::string((1 << 20) + 1, ' '), std::string(1 << 20, '[')};
  nlohmann::json left = Left();
  left["policies"]["../../../etc"] = left["policies"]["policy0"];
  bad.push_back(left.dump());
  for (const auto& [key, value] : std::vector<std::pair<const char*, const char*>>{
           {"governor", "a b"}, {"min_khz", "-1"}, {"max_khz", "12345678901"}, {"speed_khz", "x"}}) {
    left = Left();
    left["policies"]["policy0"][key] = value;
    bad.push_back(left.dump());
  }
  left = Left();
  left["pid"] = "x";
  bad.push_back(left.dump());
  for (const std::string& text : bad) {
    Leave(text);
    EXPECT_TELLS(Control(), "frequency.lock]") << text;
    EXPECT_TRUE(std::filesystem::exists(lock()));
  }
  std::filesystem::remove(lock());
  ExpectUntouched();
}

TEST(SpreadKhz, GoesFromTheLeastToTheMost) {
  EXPECT_EQ(SpreadKhz(400000, 1800000, 8), (Khz{400000, 600000, 800000, 1000000, 1200000, 1400000, 1600000, 1800000}));
  EXPECT_EQ(SpreadKhz(1000, 1000, 8), Khz{1000});
  EXPECT_EQ(SpreadKhz(1000, 3500, 8), (Khz{1000, 2250, 3500}));
  EXPECT_EQ(SpreadKhz(0, 5, 8), Khz{});
  EXPECT_EQ(SpreadKhz(6, 5, 8), Khz{});
}

TEST(AvailableKhz, SpreadsWhereTheDriverListsNone) {
  const RecordedTree tree("cpufreq/policy0/cpuinfo_min_freq = 800000\ncpufreq/policy0/cpuinfo_max_freq = 5000000");
  Sysfs sysfs(tree.root());
  const Khz list = AvailableKhz(sysfs, "policy0");
  ASSERT_EQ(list.size(), 8u);
  EXPECT_EQ(list.front(), 800000);
  EXPECT_EQ(list.back(), 5000000);
  EXPECT_EQ(AvailableKhz(sysfs, "policy1"), Khz{});
}

}  // namespace
}  // namespace mete
