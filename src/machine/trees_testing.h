// Recorded /proc and /sys of other machines, as short listings that tests write into temporary folders.
//
// A line is "PATH = CONTENT". "cpu" at its start is short for sys/devices/system/cpu/cpu. {0-3,5} in a path
// makes one file per core of this list, and $ in the content becomes the core's number: "cpu{0-1}/x = $"
// writes 0 to cpu0/x and 1 to cpu1/x. | is a line break, and the contents of several lines with the same path
// are appended. The figures are those that such machines show.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/temp_path_testing.h"
#include "machine/core_list.h"

namespace mete {

// Six cores with the kernel's cpu_capacity.
inline constexpr const char* kRk3399Tree = R"(
proc/device-tree/model = Toy RK3399 board
proc/cpuinfo = processor : 0|CPU implementer : 0x41|CPU part : 0xd03||processor : 1|CPU implementer : 0x41|CPU part : 0xd03|
proc/cpuinfo = processor : 2|CPU implementer : 0x41|CPU part : 0xd03||processor : 3|CPU implementer : 0x41|CPU part : 0xd03|
proc/cpuinfo = processor : 4|CPU implementer : 0x41|CPU part : 0xd08||processor : 5|CPU implementer : 0x41|CPU part : 0xd08|
proc/meminfo = MemTotal:        3930000 kB
proc/self/status = Name: x|Cpus_allowed_list: 0-5
cpu/online = 0-5
cpu{0-3}/cpu_capacity = 485
cpu{4-5}/cpu_capacity = 1024
cpu{0-3}/topology/core_cpus_list = $
cpu{4-5}/topology/core_cpus_list = $
cpu{0-5}/topology/package_cpus_list = 0-5
cpu{0-5}/cache/index0/level = 1
cpu{0-5}/cache/index0/type = Data
cpu{0-5}/cache/index0/size = 32K
cpu{0-5}/cache/index0/shared_cpu_list = $
cpu{0-5}/cache/index1/level = 1
cpu{0-5}/cache/index1/type = Instruction
cpu{0-5}/cache/index1/size = 48K
cpu{0-5}/cache/index2/level = 2
cpu{0-5}/cache/index2/type = Unified
cpu{0-3}/cache/index2/size = 512K
cpu{4-5}/cache/index2/size = 1024K
cpu{0-3}/cache/index2/shared_cpu_list = 0-3
cpu{4-5}/cache/index2/shared_cpu_list = 4-5
cpufreq/policy0/related_cpus = 0 1 2 3
cpufreq/policy0/cpuinfo_min_freq = 408000
cpufreq/policy0/cpuinfo_max_freq = 1416000
cpufreq/policy0/scaling_max_freq = 1416000
cpufreq/policy0/scaling_cur_freq = 600000
cpufreq/policy0/scaling_governor = ondemand
cpufreq/policy4/related_cpus = 4 5
cpufreq/policy4/cpuinfo_min_freq = 408000
cpufreq/policy4/cpuinfo_max_freq = 1800000
cpufreq/policy4/scaling_max_freq = 1608000
cpufreq/policy4/scaling_cur_freq = 1608000
cpufreq/policy4/scaling_governor = performance
sys/class/hwmon/hwmon0/name = ina226
sys/class/hwmon/hwmon0/power1_input = 3120000
sys/class/hwmon/hwmon0/power1_label = VDD_CPU
sys/class/hwmon/hwmon0/temp1_input = 41000
)";

// One, three and four cores of three types with one common L3. The sizes of the caches are missing, as on
// many phones.
inline constexpr const char* kPhoneTree = R"(
proc/cpuinfo = Hardware : Toy phone
proc/self/status = Cpus_allowed_list: 0-7
cpu/online = 0-7
cpu{0-3}/cpu_capacity = 250
cpu{4-6}/cpu_capacity = 801
cpu7/cpu_capacity = 1024
cpu{0-7}/topology/core_siblings_list = 0-7
cpufreq/policy0/related_cpus = 0 1 2 3
cpufreq/policy0/cpuinfo_max_freq = 1804800
cpufreq/policy4/related_cpus = 4 5 6
cpufreq/policy4/cpuinfo_max_freq = 2419200
cpufreq/policy7/related_cpus = 7
cpufreq/policy7/cpuinfo_max_freq = 2841600
sys/class/power_supply/battery/type = Battery
sys/class/power_supply/battery/current_now = -312000
sys/class/power_supply/usb/type = USB
sys/class/power_supply/usb/current_now = 0
)";

// Six P-cores with two threads each and eight E-cores in modules of four. Each core has its own clock, and
// two P-cores are favoured.
inline constexpr const char* kHybridTree = R"(
proc/cpuinfo = processor : 0|model name : Toy Core i9
proc/self/status = Cpus_allowed_list: 0-19
cpu/online = 0-19
sys/devices/cpu_core/cpus = 0-11
sys/devices/cpu_atom/cpus = 12-19
cpu{0,1}/topology/core_cpus_list = 0-1
cpu{2,3}/topology/core_cpus_list = 2-3
cpu{4,5}/topology/core_cpus_list = 4-5
cpu{6,7}/topology/core_cpus_list = 6-7
cpu{8,9}/topology/core_cpus_list = 8-9
cpu{10,11}/topology/core_cpus_list = 10-11
cpu{12-19}/topology/core_cpus_list = $
cpu{0-19}/topology/package_cpus_list = 0-19
cpu{0-19}/cache/index3/level = 3
cpu{0-19}/cache/index3/type = Unified
cpu{0-19}/cache/index3/size = 24M
cpu{0-19}/cache/index3/shared_cpu_list = 0-19
cpu{12-15}/cache/index2/shared_cpu_list = 12-15
cpu{16-19}/cache/index2/shared_cpu_list = 16-19
cpu{12-19}/cache/index2/size = 2048K
cpu{0-11}/cache/index2/size = 1280K
cpu{0-19}/cache/index2/level = 2
cpu{0-19}/cache/index2/type = Unified
cpu{0-19}/cache/index1/type = Instruction
cpu{0-19}/cache/index1/level = 1
cpu{0-19}/cache/index0/type = Data
cpu{0-19}/cache/index0/level = 1
cpu{0-11}/cache/index0/size = 48K
cpu{12-19}/cache/index0/size = 32K
cpufreq/policy{0-19}/related_cpus = $
cpufreq/policy{0-7}/cpuinfo_max_freq = 5200000
cpufreq/policy{8-11}/cpuinfo_max_freq = 5400000
cpufreq/policy{12-19}/cpuinfo_max_freq = 4100000
cpufreq/policy{0-19}/scaling_governor = powersave
sys/class/powercap/intel-rapl/enabled = 1
sys/class/powercap/intel-rapl:0/name = package-0
sys/class/powercap/intel-rapl:0/energy_uj = 262143
sys/class/powercap/intel-rapl:0:0/name = core
sys/class/powercap/intel-rapl:0:0/energy_uj = 131071
)";

// Two sockets with four cores and an L3 each.
inline constexpr const char* kServerTree = R"(
proc/cpuinfo = processor : 0|model name : Toy server
proc/self/status = Cpus_allowed_list: 0-7
cpu/online = 0-7
cpu{0-7}/topology/thread_siblings_list = $
cpu{0-3}/topology/core_siblings_list = 0-3
cpu{4-7}/topology/core_siblings_list = 4-7
cpu{0-7}/cache/index0/level = 3
cpu{0-7}/cache/index0/type = Unified
cpu{0-7}/cache/index0/size = 16M
cpu{0-3}/cache/index0/shared_cpu_list = 0-3
cpu{4-7}/cache/index0/shared_cpu_list = 4-7
cpu{0-7}/cpufreq/cpuinfo_max_freq = 3000000
)";

// A container that may use three of eight equal cores. The path of its cgroup is the host's, but only the
// container's own cgroup is visible.
inline constexpr const char* kContainerTree = R"(
proc/self/status = Cpus_allowed_list: 0-7
proc/self/cgroup = 0::/machine.slice/toy
sys/fs/cgroup/cpuset.cpus.effective = 2-3,5
cpu/online = 0-7
cpu{0-7}/cpu_capacity = 1024
cpu{0,1}/topology/core_cpus_list = 0-1
cpu{2,3}/topology/core_cpus_list = 2-3
cpu{4,5}/topology/core_cpus_list = 4-5
cpu{6,7}/topology/core_cpus_list = 6-7
)";

class RecordedTree {
 public:
  explicit RecordedTree(const std::string& listing) {
    std::istringstream in(listing);
    for (std::string line; std::getline(in, line);) {
      const size_t equals = line.find(" = ");
      if (equals != line.npos) WriteLine(line.substr(0, equals), line.substr(equals + 3));
    }
  }

  const std::string& root() const { return temp_.str(); }

  // Writes one file with `content` unchanged; the default mode replaces an existing file.
  void Write(const std::string& path, const std::string& content,
             std::ios::openmode mode = std::ios::trunc) const {
    const std::filesystem::path file = std::filesystem::path(root()) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | mode) << content;
  }

 private:
  static std::string Replace(std::string text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
      text.replace(at, from.size(), to);
    return text;
  }

  void WriteLine(std::string path, const std::string& content) const {
    if (path.rfind("cpu", 0) == 0)
      path = "sys/devices/system/" + std::string(path.rfind("cpu/", 0) == 0 ? "" : "cpu/") + path;
    const std::string text = Replace(content, "|", "\n") + "\n";
    const size_t open = path.find('{'), close = path.find('}');
    if (open == path.npos) return Write(path, text, std::ios::app);
    const std::vector<int> cores =
        ParseCoreList(path.substr(open + 1, close - open - 1)).value_or(std::vector<int>());
    EXPECT_FALSE(cores.empty()) << path;
    for (int core : cores) {
      const std::string number = std::to_string(core);
      Write(Replace(path.substr(0, open) + number + path.substr(close + 1), "$", number),
            Replace(text, "$", number), std::ios::app);
    }
  }

  const TempPath temp_;
};

}  // namespace mete
