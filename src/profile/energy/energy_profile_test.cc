#include "profile/energy/energy_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/errors_testing.h"
#include "costs/energy.h"
#include "machine/frequency_policy.h"
#include "profile/energy/simulated_cores_testing.h"

namespace mete {
namespace {

constexpr int64_t kMs = 1'000'000;

// A simulated board with a meter that changes every millisecond, like RAPL.
class SimulatedBoard : public ClusterFrequencies, public EnergyMeter {
 public:
  explicit SimulatedBoard(const MachineFile& file) : file_(file), cores_(file) {}

  EnergyBench bench() {
    return {*this, *this, load, [this](int64_t ns) { Pass(ns); }};
  }

  std::vector<int64_t> Khz(size_t cluster) const override {
    const ClusterFigures& f = file_.clusters[cluster];
    return SpreadKhz(std::llround(f.min_mhz.value * 1e3), std::llround(f.max_mhz.value * 1e3));
  }
  void Set(size_t cluster, int64_t khz) override { cores_.SetKhz(cluster, khz); }

  EnergyReading Read() override { return {shown_, cores_.ns(), "toy meter"}; }
  int64_t update_ns() const override { return kMs; }
  int64_t poll_ns() const override { return INT64_MAX; }
  int64_t span_ns() const override { return 200 * kMs; }

 private:
  void Pass(int64_t ns) {
    const double before = cores_.joules();
    cores_.Pass(ns);
    const double after = cores_.joules();
    const int64_t since = cores_.ns() % kMs;  // time since the meter changed
    if (since <= ns) shown_ = after - (after - before) * double(since) / double(ns);
  }

  const MachineFile& file_;
  SimulatedCores cores_;
  double shown_ = 0;

 public:
  SimulatedLoad load{cores_, [this](int64_t ns) { Pass(ns); }};
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
  if (file_.clusters.size() > 1) {
    double memory = 0;
    for (const ClusterFigures& f : file_.clusters) memory += f.gbytes_per_s.value;
    EXPECT_NEAR(curves.gbytes_per_s, std::min(memory, file_.memory_gbytes_per_s.value), 1e-6);
  }
  for (size_t c = 0; c < curves.clusters.size(); ++c)
    for (const EnergyPoint& p : curves.clusters[c].points) {
      const double watts =
          file_.clusters[c].idle_w.value + p.cores * file_.clusters[c].active_watts(double(p.khz) * 1e-3);
      EXPECT_NEAR(p.watts, watts, 0.01 * (watts + kWithoutWork))
          << curves.clusters[c].name << " " << p.khz << " " << p.cores;
    }
}

// The optimum is that of the board's own power model. The work has the measured data-reuse rates, because the
// interpolation between them is not exact.
TEST_P(MeasureEnergyTest, LeadsToTheChoiceThatIsKnownToBeBest) {
  EnergyCurves measured = Measure(), known = CurvesOf(file_);
  for (ClusterCurves& c : known.clusters) c.node_us = 0;
  const ModelWork computes{{{1'000'000'000, 100'000}}, 0, 0}, moves{{{2'500'000, 10'000'000}}, 0, 0};
  const ModelWork both{{{1'000'000'000, 100'000}, {2'500'000, 10'000'000}, {17'000'000, 4'000'000}}, 0, 0};
  for (const ModelWork* work : {&computes, &moves, &both})
    for (double slower : {0.0, 1.5, 4.0}) {
      const Objective objective{slower * ChooseEnergy(known, *work, {}).fastest.ms};
      const EnergyChoice choice = ChooseEnergy(measured, *work, objective),
                         best = ChooseEnergy(known, *work, objective);
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
  EXPECT_EQ(effort.ns + board_.load.starts * SimulatedLoad::kStartNs, board_.Read().ns);
  EXPECT_EQ(board_.load.starts, board_.load.stops);
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
    EnergyReading Read() override {
      return {2e-9 * double(SimulatedBoard::Read().ns), SimulatedBoard::Read().ns, "deaf meter"};
    }
  };
  Deaf deaf(file_);
  EnergyBench bench = deaf.bench();
  EXPECT_TELLS(MeasureEnergy(file_.machine, bench, {}),
               "deaf meter] the meter shows no more with 1 cores of cpu at work than without");
  EXPECT_EQ(deaf.load.starts, deaf.load.stops);
}

TEST_F(OneBoardTest, StopsWhenItIsCancelled) {
  CancelToken cancel;
  EnergyProfileOptions options{8, &cancel};
  options.progress = [&](int done, int) {
    if (done == 5) cancel.Cancel();
  };
  EnergyBench bench = board_.bench();
  EXPECT_TELLS(MeasureEnergy(file_.machine, bench, options), "interrupted");
  EXPECT_EQ(board_.load.starts, 6);
  EXPECT_EQ(board_.load.stops, 6);
}

}  // namespace
}  // namespace mete
