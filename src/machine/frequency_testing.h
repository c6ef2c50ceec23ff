// A simulated board for tests that set frequencies, with a kernel that refuses the same writes as a real one.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

#include "base/errors_testing.h"
#include "machine/frequency.h"
#include "machine/trees_testing.h"

namespace mete {

inline const std::string kCpufreq = "sys/devices/system/cpu/cpufreq/";

// A board with two clusters; only the fast one offers the governor userspace.
inline const std::string kBoard = std::string(kRk3399Tree) + R"(
cpufreq/policy0/scaling_min_freq = 408000
cpufreq/policy0/scaling_available_governors = ondemand performance
cpufreq/policy0/scaling_available_frequencies = 1416000 408000 600000 1008000
cpufreq/policy4/scaling_min_freq = 600000
cpufreq/policy4/scaling_available_governors = performance userspace
cpufreq/policy4/scaling_setspeed = <unsupported>
cpufreq/policy4/scaling_available_frequencies = 408000 1008000 1800000
)";

inline std::string Get(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// What a write that fails gives back.
inline bool FailWith(int error) {
  errno = error;
  return false;
}

// WriteAsKernel() refuses a lower limit above the upper one, and every write to the file with this name.
inline std::string g_closed;

inline bool WriteAsKernel(const char* path, const char* text) {
  const std::string file = path, folder = file.substr(0, file.rfind('/') + 1),
                    name = file.substr(folder.size());
  if (!g_closed.empty() && file.ends_with(g_closed)) return FailWith(EACCES);
  const auto number = [](const std::string& t) { return std::stoll(t); };
  const auto now = [&](const char* other) { return number(Get(folder + other)); };
  if (name == "scaling_min_freq" && number(text) > now("scaling_max_freq")) return FailWith(EINVAL);
  if (name == "scaling_max_freq" && number(text) < now("scaling_min_freq")) return FailWith(EINVAL);
  if (name == "scaling_setspeed" && Get(folder + "scaling_governor") != "userspace") return FailWith(EINVAL);
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
  // Tests with signals pass WriteFrequencyFileOfKernel, because WriteAsKernel is not async-signal-safe.
  std::unique_ptr<FrequencyControl> Control(WriteFrequencyFile write = WriteAsKernel) const {
    return std::make_unique<FrequencyControl>(machine_.clusters,
                                              FrequencyPlaces{tree_.root(), folder_.str(), write});
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

}  // namespace mete
