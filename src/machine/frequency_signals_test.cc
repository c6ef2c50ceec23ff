#include "machine/frequency_signals.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <nlohmann/json.hpp>

#include "machine/frequency_testing.h"

namespace mete {
namespace {

// A process that sets both clusters, reports that, and waits for a signal that ends it.
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

// Other code installs its handler over FrequencySignals's and reinstalls that one after Disarm().
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
  EXPECT_TELLS(Control(), "and remove " + lock());
  g_closed.clear();
  EXPECT_EQ(Control()->notes().size(), 1u);
  ExpectUntouched();
}

TEST_F(FrequencySignalsTest, RefusesWhileTheOtherProcessLives) {
  Child child = Changer();
  EXPECT_TELLS(Control(), "still runs");
  EXPECT_EQ(All("policy0"), "ondemand 408000 408000");
}

class FrequencyLockTest : public FrequencyTest {
 protected:
  // Returns the lock file that a process with other settings would have left.
  nlohmann::json Left() const {
    const nlohmann::json setting{{"governor", "powersave"}, {"min_khz", "408000"},
                                 {"max_khz", "600000"},     {"speed_khz", ""},
                                 {"tunables_in", ""},       {"tunables", nlohmann::json::object()}};
    return {{"format", "mete frequency lock 2"},
            {"boot_id", Get("/proc/sys/kernel/random/boot_id")},
            {"pid", getpid()},
            {"policies", {{"policy0", setting}}}};
  }
  void Leave(const std::string& text) const {
    std::filesystem::create_directories(folder_.str());
    std::ofstream(lock()) << text;
  }
};

TEST_F(FrequencyLockTest, OfAProcessOfTheSameNumberIsMended) {
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

TEST_F(FrequencyLockTest, GoesWhateverItIsOnceTheMachineWasStartedAnew) {
  nlohmann::json left = Left();
  left["boot_id"] = "01234567-89ab-cdef-0123-456789abcdef";
  left["format"] = "mete frequency lock 1";
  const std::string old = left.dump();
  for (const std::string& text : {old, old.substr(0, old.size() - 9), old + std::string(1 << 20, ' ')}) {
    Leave(text);
    EXPECT_EQ(MendFrequencies(tree_.root(), folder_.str()), "") << text.substr(0, 400);
    ExpectUntouched();
  }
}

TEST_F(FrequencyLockTest, OfAnotherFormatIsToldWhileTheMachineRuns) {
  nlohmann::json left = Left();
  left["format"] = "mete frequency lock 1";
  Leave(left.dump());
  EXPECT_NE(MendFrequencies(tree_.root(), folder_.str()).find("cannot be understood"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(lock()));
}

TEST_F(FrequencyLockTest, IsMendedWithoutSettingAnything) {
  EXPECT_EQ(MendFrequencies(tree_.root(), folder_.str()), "");
  EXPECT_EQ(MendFrequencies(tree_.root(), ""), "");
  EXPECT_FALSE(std::filesystem::exists(folder_.str() + "/frequency.lock.guard"));
  Leave(Left().dump());
  const std::string note = MendFrequencies(tree_.root(), folder_.str());
  EXPECT_NE(
      note.find(
          "did not put the frequencies back; that was done now: policy0 powersave, 408000 to 600000 kHz"),
      note.npos)
      << note;
  EXPECT_EQ(All("policy0"), "powersave 408000 600000");
  EXPECT_FALSE(std::filesystem::exists(lock()));
}

TEST_F(FrequencyLockTest, SaysHowToPutBackWhatItMayNot) {
  Leave(Left().dump());
  g_closed = "policy0/scaling_governor";
  const std::string note = MendFrequencies(tree_.root(), folder_.str(), WriteAsKernel);
  for (const std::string& part :
       {std::string("policy0/scaling_governor] cannot put back"), std::string("Permission denied"),
        std::string("policy0 powersave, 408000 to 600000 kHz"), "METE_CACHE=" + folder_.str(), lock()})
    EXPECT_NE(note.find(part), note.npos) << part << " in " << note;
  EXPECT_TRUE(std::filesystem::exists(lock()));
  Leave("{");
  EXPECT_NE(MendFrequencies(tree_.root(), folder_.str()).find("cannot be understood"), note.npos);
}

TEST_F(FrequencyLockTest, OfAProcessThatLivesIsLeftAlone) {
  const auto control = Control();
  control->Set(1, 408000);
  EXPECT_EQ(MendFrequencies(tree_.root(), folder_.str()), "");
  EXPECT_EQ(All("policy0"), "ondemand 408000 408000");
  EXPECT_TRUE(std::filesystem::exists(lock()));
}

// The lock is like that of another container, whose process number means nothing here.
TEST_F(FrequencyLockTest, IsLeftAloneWhileItIsHeldWhoeverThatIs) {
  {
    const auto control = Control();
    control->Set(1, 408000);
    nlohmann::json other = nlohmann::json::parse(std::ifstream(lock()));
    other["pid"] = INT_MAX;
    Leave(other.dump());
    EXPECT_EQ(MendFrequencies(tree_.root(), folder_.str()), "");
    EXPECT_EQ(All("policy0"), "ondemand 408000 408000");
  }
  ExpectUntouched();
}

TEST_F(FrequencyLockTest, IsHeldByAForkedChildUntilThatEnds) {
  int pids[2];
  ASSERT_EQ(pipe(pids), 0);
  Child owner([&] {
    Control(WriteFrequencyFileOfKernel).release()->Set(1, 408000);
    const pid_t grandchild = fork();
    if (grandchild == 0)
      for (;;) pause();
    (void)!write(pids[1], &grandchild, sizeof(grandchild));
  });
  pid_t grandchild = 0;
  ASSERT_EQ(read(pids[0], &grandchild, sizeof(grandchild)), ssize_t(sizeof(grandchild)));
  owner.End(SIGKILL);
  EXPECT_EQ(MendFrequencies(tree_.root(), folder_.str()), "");
  EXPECT_EQ(All("policy0"), "ondemand 408000 408000");
  kill(grandchild, SIGKILL);
  close(pids[0]);
  close(pids[1]);
}

TEST_F(FrequencyLockTest, NamesSomePoliciesOfMany) {
  nlohmann::json left = Left();
  for (int i = 1; i < 9; ++i)
    left["policies"]["policy" + std::to_string(10 * i)] = left["policies"]["policy0"];
  Leave(left.dump());
  const std::string note = MendFrequencies(tree_.root(), folder_.str());
  EXPECT_NE(note.find("policy0 powersave, 408000 to 600000 kHz; policy10 powersave"), note.npos) << note;
  EXPECT_NE(note.find("; 5 more;"), note.npos) << note;
}

TEST_F(FrequencyLockTest, RefusesADamagedOne) {
  std::vector<std::string> bad{
      "", "{", "[]", "{}", "\"x\"", std::string((1 << 20) + 1, ' '), std::string(1 << 20, '[')};
  nlohmann::json left = Left();
  left["policies"]["../../../etc"] = left["policies"]["policy0"];
  bad.push_back(left.dump());
  for (const auto& [key, value] : std::vector<std::pair<const char*, const char*>>{
           {"governor", "a b"}, {"min_khz", "-1"}, {"max_khz", "12345678901"}, {"speed_khz", "x"}}) {
    left = Left();
    left["policies"]["policy0"][key] = value;
    bad.push_back(left.dump());
  }
  for (const auto& [folder, name, text] :
       std::vector<std::array<const char*, 3>>{{"../../x", "a", "1"},
                                               {"policy4/powersave", "a", "1"},
                                               {"powersave", "../a", "1"},
                                               {"powersave", "a", "1\n2"},
                                               {"powersave", "a", ""}}) {
    left = Left();
    left["policies"]["policy0"]["tunables_in"] = folder;
    left["policies"]["policy0"]["tunables"][name] = text;
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

}  // namespace
}  // namespace mete
