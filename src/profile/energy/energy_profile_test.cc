#include "profile/energy/energy_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/errors_testing.h"
#include "costs/energy.h"
#include "costs/estimate.h"
#include "machine/frequency_policy.h"
#include "profile/energy/thread_load.h"

namespace mete {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr double kWithoutWork = 0.7;  // W, of the rest of the machine

// A board that computes and takes energy as its machine file says, in time that passes only while somebody waits. Its meter is as old as
// RAPL's may be: it changes every millisecond.
class SimulatedBoard : public ClusterFrequencies, public EnergyLoad, public EnergyMeter {
 public:
  explicit SimulatedBoard(const MachineFile& file)
      : file_(file), model_(file, [this] { return ns_; }), khz_(file.clusters.size()), load_{} {}

  EnergyBench bench() {
    return {*this, *this, *this, [this](int64_t ns) { Pass(ns); }};
  }

  std::vector<int64_t> Khz(size_t cluster) const override {
    const ClusterFigures& f = file_.clusters[cluster];
    return SpreadKhz(std::llround(f.min_mhz.value * 1e3), std::llround(f.max_mhz.value * 1e3));
  }
  void Set(size_t cluster, int64_t khz) override { khz_[cluster] = khz; }

  void Start(const std::vector<int>& cores, const ReuseLoad& load) override {
    Pass(370'000);  // so that nothing is in step with the meter
    const auto has = [&](const Cluster& c) { return std::find(c.cores.begin(), c.cores.end(), cores[0]) != c.cores.end(); };
    const auto& clusters = file_.machine.clusters;
    cluster_ = size_t(std::find_if(clusters.begin(), clusters.end(), has) - clusters.begin());
    cores_ = int(cores.size()), load_ = load, flops_ = 0;
    model_.SetAwake(cluster_, true);
    ++starts;
  }
  double Flops() override { return flops_; }
  void Stop() override {
    cores_ = 0;
    model_.SetAwake(cluster_, false);
    ++stops;
  }

  EnergyReading Read() override { return {shown_, ns_, "toy meter"}; }
  int64_t update_ns() const override { return kMs; }
  int64_t poll_ns() const override { return INT64_MAX; }
  int64_t span_ns() const override { return 200 * kMs; }

  int starts = 0, stops = 0;
  double watts_more = kWithoutWork;

 private:
  void Pass(int64_t ns) {
    const double before = model_.Read().joules + watts_more * double(ns_) * 1e-9;
    ns_ += ns;
    if (cores_ > 0) {
      model_.Busy(cluster_, double(khz_[cluster_]) * 1e-3, cores_ * ns);
      flops_ += Gflops() * double(ns);
    }
    const double after = model_.Read().joules + watts_more * double(ns_) * 1e-9;
    const int64_t since = ns_ % kMs;  // the last time that the meter changed
    if (since <= ns) shown_ = after - (after - before) * double(since) / double(ns);
  }

  double Gflops() const {
    const ClusterFigures& f = file_.clusters[cluster_];
    const double peak = cores_ * f.f32_gflops() * f.compute_share.value * double(khz_[cluster_]) * 1e-3 / f.max_mhz.value;
    return load_.in_cache ? peak : std::min(peak, load_.flops_per_byte() * f.gbytes_per_s.value);
  }

  const MachineFile& file_;
  int64_t ns_ = 0;
  ModelMeter model_;
  std::vector<int64_t> khz_;
  ReuseLoad load_;
  size_t cluster_ = 0;
  int cores_ = 0;
  double flops_ = 0, shown_ = 0;
};

class MeasureEnergyTest : public testing::TestWithParam<const char*> {
 protected:
  const MachineFile file_ = ReadMachineFile(std::string("boards/") + GetParam() + ".toml");
  SimulatedBoard board_{file_};
  EnergyCurves Measure(const EnergyProfileOptions& options = {}) {
    EnergyBench bench = board_.bench();
    return MeasureEnergy(file_.machine, bench, options);
  }
};

TEST_P(MeasureEnergyTest, FindsThePowerModelWithinOnePercent) {
  const EnergyCurves curves = Measure();
  EXPECT_EQ(curves.source, "measured with toy meter");
  EXPECT_NEAR(curves.idle_watts, kWithoutWork, 0.01 * kWithoutWork);
  for (size_t c = 0; c < curves.clusters.size(); ++c)
    for (const EnergyPoint& p : curves.clusters[c].points) {
      const double watts = file_.clusters[c].idle_w.value + p.cores * file_.clusters[c].active_watts(double(p.khz) * 1e-3);
      EXPECT_NEAR(p.watts, watts, 0.01 * (watts + kWithoutWork)) << curves.clusters[c].name << " " << p.khz << " " << p.cores;
    }
}

// The optimum is that of the model which the board computes by. Work of the rates that are measured: between them lines are not exact.
TEST_P(MeasureEnergyTest, LeadsToTheChoiceThatIsKnownToBeBest) {
  EnergyCurves measured = Measure(), known = CurvesOf(file_);
  measured.gbytes_per_s = known.gbytes_per_s;
  for (ClusterCurves& c : known.clusters) c.node_us = 0;
  const ModelWork computes{{{1'000'000'000, 100'000}}, 0, 0}, moves{{{2'500'000, 10'000'000}}, 0, 0};
  const ModelWork both{{{1'000'000'000, 100'000}, {2'500'000, 10'000'000}, {17'000'000, 4'000'000}}, 0, 0};
  for (const ModelWork* work : {&computes, &moves, &both})
    for (double slower : {0.0, 1.5, 4.0}) {
      const Objective objective{slower * ChooseEnergy(known, *work, {}).fastest.ms};
      const EnergyChoice choice = ChooseEnergy(measured, *work, objective), best = ChooseEnergy(known, *work, objective);
      EXPECT_EQ(ToText(measured, choice.best), ToText(known, best.best));
      EXPECT_NEAR(choice.best.joules, best.best.joules, 0.05 * best.best.joules);
      EXPECT_NEAR(choice.best.ms, best.best.ms, 0.02 * best.best.ms);
    }
}

TEST_P(MeasureEnergyTest, SaysBeforehandHowMuchThereIsToDo) {
  EnergyBench bench = board_.bench();
  int last = 0, all = 0;
  EnergyProfileOptions options{3};
  options.progress = [&](int done, int of) {
    EXPECT_EQ(done, ++last);
    all = of;
  };
  const EnergyEffort effort = EffortOf(file_.machine, bench, options);
  const EnergyCurves curves = MeasureEnergy(file_.machine, bench, options);
  size_t points = 0;
  for (const ClusterCurves& c : curves.clusters) points += c.points.size();
  EXPECT_EQ(size_t(effort.points), points);
  EXPECT_EQ(effort.points, all);
  EXPECT_EQ(last, all);
  EXPECT_EQ(effort.ns + board_.starts * 370'000, board_.Read().ns);
  EXPECT_EQ(board_.starts, board_.stops);
}

INSTANTIATE_TEST_SUITE_P(Boards, MeasureEnergyTest, testing::Values("tensor-g4", "rk3399", "raspberry-pi-5"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class OneBoardTest : public testing::Test {
 protected:
  const MachineFile file_ = ReadMachineFile("boards/raspberry-pi-5.toml");
  SimulatedBoard board_{file_};
};

TEST_F(OneBoardTest, RefusesAMeterThatSeesNothingOfTheWork) {
  class Deaf : public SimulatedBoard {
   public:
    using SimulatedBoard::SimulatedBoard;
    EnergyReading Read() override { return {2e-9 * double(SimulatedBoard::Read().ns), SimulatedBoard::Read().ns, "deaf meter"}; }
  };
  Deaf deaf(file_);
  EnergyBench bench = deaf.bench();
  EXPECT_TELLS(MeasureEnergy(file_.machine, bench, {}), "deaf meter] the meter shows no more with 1 cores of cpu at work than without");
  EXPECT_EQ(deaf.starts, deaf.stops);
}

TEST_F(OneBoardTest, StopsWhenItIsCancelled) {
  CancelToken cancel;
  EnergyProfileOptions options{8, &cancel};
  options.progress = [&](int done, int) {
    if (done == 5) cancel.Cancel();
  };
  EnergyBench bench = board_.bench();
  EXPECT_TELLS(MeasureEnergy(file_.machine, bench, options), "interrupted");
  EXPECT_EQ(board_.starts, 6);
  EXPECT_EQ(board_.stops, 6);
}

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
