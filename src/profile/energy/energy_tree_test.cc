// Tests frequencies, meter, curves and choice together, on a recorded tree whose files a simulated machine
// reads and writes.
#include <gtest/gtest.h>

#include <cmath>

#include "costs/energy.h"
#include "machine/trees_testing.h"
#include "profile/energy/simulated_cores_testing.h"

namespace mete {
namespace {

// Two clusters, one of which offers the governor userspace, and an energy counter that soon wraps.
constexpr const char* kMeteredTree = R"(
proc/self/status = Cpus_allowed_list: 0-5
cpu/online = 0-5
cpu{0-3}/cpu_capacity = 400
cpu{4-5}/cpu_capacity = 1024
cpufreq/policy0/related_cpus = 0-3
cpufreq/policy0/cpuinfo_min_freq = 400000
cpufreq/policy0/cpuinfo_max_freq = 1400000
cpufreq/policy0/scaling_min_freq = 400000
cpufreq/policy0/scaling_max_freq = 1400000
cpufreq/policy0/scaling_governor = schedutil
cpufreq/policy4/related_cpus = 4-5
cpufreq/policy4/cpuinfo_min_freq = 600000
cpufreq/policy4/cpuinfo_max_freq = 2000000
cpufreq/policy4/scaling_min_freq = 600000
cpufreq/policy4/scaling_max_freq = 2000000
cpufreq/policy4/scaling_governor = schedutil
cpufreq/policy4/scaling_available_governors = schedutil userspace
cpufreq/policy4/scaling_available_frequencies = 600000 800000 1000000 1200000 1400000 1600000 1800000 2000000
cpufreq/policy4/scaling_setspeed = <unsupported>
sys/class/powercap/toy-rapl:0/name = package-0
sys/class/powercap/toy-rapl:0/energy_uj = 0
sys/class/powercap/toy-rapl:0/max_energy_range_uj = 5000000
)";

constexpr const char* kMeteredBoard = R"(
name = "Toy"
memory = { gib = { value = 4, source = "x" }, gbytes_per_s = { value = 30, source = "x" } }
[[cluster]]
name = "big"
core = "B"
cores = "4-5"
source = "x"
caches = [{ level = 1, kib = 32, shared_by = 1, source = "x" }]
min_mhz = { value = 600, source = "x" }
max_mhz = { value = 2000, source = "x" }
f32_flops_per_cycle = { value = 16, source = "x" }
int8_ops_per_cycle = { value = 16, source = "x" }
compute_share = { value = 0.8, source = "x" }
depthwise_share = { value = 0.4, source = "x" }
gbytes_per_s = { value = 12, source = "x" }
dequeue_ns = { value = 0, source = "x" }
barrier_us = { value = 0, source = "x" }
wake_us = { value = 0, source = "x" }
idle_w = { value = 0.6, source = "x" }
active_w = { value = 2, source = "x" }
power_exponent = { value = 2.5, source = "x" }
)";

// The table of the second cluster is that of the first one with these replacements.
std::string TwoClusters() {
  std::string all = kMeteredBoard, little = all.substr(all.find("[[cluster]]"));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"name = \"big\"", "name = \"little\""},
           {"4-5", "0-3"},
           {"600", "400"},
           {"2000", "1400"},
           {"value = 16", "value = 8"},
           {"idle_w = { value = 0.6", "idle_w = { value = 0.2"},
           {"active_w = { value = 2", "active_w = { value = 0.4"}})
    little.replace(little.find(from), from.size(), to);
  return all + little;
}

// Simulated cores whose frequencies are those in the files of a tree, and whose energy the tree's counter
// shows.
class MeteredTree {
 public:
  explicit MeteredTree(const MachineFile& file) : cores_(file) {}

  const std::string& root() const { return tree_.root(); }
  EnergyClock clock() {
    return [this] { return cores_.ns(); };
  }
  void Pass(int64_t ns) {
    cores_.SetKhz(0,
                  std::stoll(Get("policy4/scaling_governor") == "userspace" ? Get("policy4/scaling_setspeed")
                                                                            : "600000"));
    cores_.SetKhz(1, Get("policy0/scaling_min_freq") == Get("policy0/scaling_max_freq")
                         ? std::stoll(Get("policy0/scaling_max_freq"))
                         : 400'000);
    cores_.Pass(ns);
    tree_.Write("sys/class/powercap/toy-rapl:0/energy_uj",
                std::to_string(std::llround(cores_.joules() * 1e6) % 5'000'000));
  }
  std::string Get(const std::string& file) const {
    std::ifstream in(root() + "/sys/devices/system/cpu/cpufreq/" + file);
    std::string line;
    std::getline(in, line);
    return line;
  }

 private:
  const RecordedTree tree_{kMeteredTree};
  SimulatedCores cores_;

 public:
  SimulatedLoad load{cores_, [this](int64_t ns) { Pass(ns); }};
};

// The optimum of each cluster's power model is known: joules per operation are proportional to (idle + n
// active x^p) / x, with the minimum at idle = (p - 1) n active x^p.
TEST(EnergyOfATree, FindsTheKnownOptimumAndLeavesTheTreeAsItWas) {
  const MachineFile file = ParseMachineFile(TwoClusters(), "toy.toml");
  const TempPath folder;
  MeteredTree tree(file);
  EnergyCurves curves;
  {
    const Machine machine = ReadMachine(tree.root());
    const auto meter = OpenMeter(tree.root(), ChooseMeters(machine.meters, {}), tree.clock());
    FrequencyControl frequencies(machine.clusters, {tree.root(), folder.str()});
    EnergyBench bench{frequencies, *meter, tree.load, [&](int64_t ns) { tree.Pass(ns); }};
    curves = MeasureEnergy(machine, bench, {});
  }
  EXPECT_EQ(curves.source, "measured with powercap package-0");
  const ModelWork computes{{{1'000'000'000, 100'000}}, 0, 0};
  for (size_t c = 0; c < 2; ++c) {
    EnergyCurves alone = curves;
    alone.clusters = {curves.clusters[c]};
    const ClusterFigures& f = file.clusters[c];
    const ClusterSetting best = ChooseEnergy(alone, computes, {}).best.clusters[0];
    EXPECT_EQ(best.cores, int(curves.clusters[c].cores.size()));
    const double x = std::pow(f.idle_w.value / (1.5 * best.cores * f.active_w.value), 1 / 2.5);
    EXPECT_NEAR(double(best.khz), x * f.max_mhz.value * 1e3, 200'000) << c;  // a step of the clock
    EXPECT_GT(best.khz, alone.clusters[0].points.front().khz);
    EXPECT_LT(best.khz, alone.clusters[0].points.back().khz);
  }
  EXPECT_EQ(tree.Get("policy0/scaling_min_freq") + " " + tree.Get("policy0/scaling_max_freq"),
            "400000 1400000");
  EXPECT_EQ(tree.Get("policy4/scaling_governor"), "schedutil");
}

}  // namespace
}  // namespace mete
