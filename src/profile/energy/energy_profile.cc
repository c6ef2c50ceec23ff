#include "profile/energy/energy_profile.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/fast/reuse/reuse.h"

namespace mete {
namespace {

// 0.25, 1.25, 4.25, 16.25, 64.25 operations per byte, and compute-bound. These values are a guess: the corner
// of a roofline lies between 1 (a core at a low clock with a fast memory) and 50 (many cores with a slow
// memory).
constexpr ReuseLoad kLoads[] = {{0}, {2}, {8}, {32}, {128}, {128, true}};

// This value is a guess: an error of the idle power is an error of every point, so that it is measured
// longer.
constexpr int kIdleSpans = 5;
constexpr int kSettleUpdates = 2;  // updates of the meter: the first may still include the time before
// This value is a guess: the clock changes within 1 ms, and the caches are filled within some ms.
constexpr int64_t kSettleNs = 20'000'000;

// Returns at most `most` elements of a list, evenly spaced, including the first and the last.
std::vector<int64_t> Pick(const std::vector<int64_t>& list, int most) {
  if (most < 1 || list.empty()) Invalid("energy", "no frequencies to measure at");
  if (int(list.size()) <= most) return list;
  if (most == 1) return {list.back()};
  std::vector<int64_t> some;
  for (int i = 0; i < most; ++i) some.push_back(list[(list.size() - 1) * size_t(i) / size_t(most - 1)]);
  return some;
}

int64_t SettleNs(const EnergyMeter& meter) { return std::max(kSettleNs, kSettleUpdates * meter.update_ns()); }

class Profiler {
 public:
  Profiler(const Machine& machine, EnergyBench& bench, const EnergyProfileOptions& options)
      : machine_(machine), bench_(bench), options_(options), effort_(EffortOf(machine, bench, options)) {}

  EnergyCurves Do() {
    for (size_t c = 0; c < machine_.clusters.size(); ++c)
      bench_.frequencies.Set(c, bench_.frequencies.Khz(c).at(0));
    EnergyCurves curves{machine_.name, "", 0, 0, {}};
    Wait(SettleNs(bench_.meter));
    const Interval idle = Measure(kIdleSpans * bench_.meter.span_ns());
    curves.idle_watts = idle.watts();
    curves.source = "measured with " + idle.end.meter;
    for (size_t c = 0; c < machine_.clusters.size(); ++c)
      curves.clusters.push_back(OfCluster(c, curves.idle_watts));
    if (curves.clusters.size() > 1) curves.gbytes_per_s = MemoryOfAll(curves);
    Verify(curves);
    return curves;
  }

 private:
  struct Interval {
    EnergyReading begin, end;
    double flops = 0;

    double ns() const { return double(end.ns - begin.ns); }
    double watts() const { return (end.joules - begin.joules) / ns() * 1e9; }
  };

  // Measures the memory bandwidth of all clusters together at their highest frequencies.
  double MemoryOfAll(const EnergyCurves& curves) {
    std::vector<int> cores;
    for (size_t c = 0; c < curves.clusters.size(); ++c) {
      bench_.frequencies.Set(c, bench_.frequencies.Khz(c).back());
      cores.insert(cores.end(), curves.clusters[c].cores.begin(), curves.clusters[c].cores.end());
    }
    const ReuseLoad& load = kLoads[0];
    const Running running(bench_.load, cores, load);
    Wait(SettleNs(bench_.meter));
    const Interval measured = Measure(bench_.meter.span_ns());
    return measured.flops / measured.ns() / load.flops_per_byte();
  }

  ClusterCurves OfCluster(size_t c, double idle_watts) {
    const Cluster& cluster = machine_.clusters[c];
    ClusterCurves curves{cluster.name, FirstThreads(cluster), 0, {}};
    for (int64_t khz : Pick(bench_.frequencies.Khz(c), options_.frequencies)) {
      bench_.frequencies.Set(c, khz);
      for (int count : CoreCounts(int(curves.cores.size())))
        for (const ReuseLoad& load : kLoads)
          curves.points.push_back(OfLoad(curves, khz, count, load, idle_watts));
    }
    bench_.frequencies.Set(c, bench_.frequencies.Khz(c).at(0));
    return curves;
  }

  EnergyPoint OfLoad(const ClusterCurves& cluster, int64_t khz, int count, const ReuseLoad& load,
                     double idle_watts) {
    const Running running(bench_.load, {cluster.cores.begin(), cluster.cores.begin() + count}, load);
    Wait(SettleNs(bench_.meter));
    const Interval measured = Measure(bench_.meter.span_ns());
    const EnergyPoint point{khz, count, load.flops_per_byte(), measured.flops / measured.ns(),
                            measured.watts() - idle_watts};
    if (!(point.watts > 0))
      Fail(Code::kFailedPrecondition, measured.end.meter,
           "the meter shows no more with {} cores of {} at work than without; got {:.3f} W "
           "and {:.3f} W; try another one with --meter, or a machine that does nothing else",
           count, cluster.name, measured.watts(), idle_watts);
    if (options_.progress) options_.progress(++done_, effort_.points);
    return point;
  }

  // Stops the load also when an exception is thrown.
  class Running {
   public:
    Running(EnergyLoad& load, const std::vector<int>& cores, const ReuseLoad& what) : load_(load) {
      load_.Start(cores, what);
    }
    ~Running() { load_.Stop(); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    EnergyLoad& load_;
  };

  Interval Measure(int64_t ns) {
    Interval i;
    i.begin = bench_.meter.Read();
    i.flops = -bench_.load.Flops();
    Wait(ns);
    i.end = bench_.meter.Read();
    i.flops += bench_.load.Flops();
    return i;
  }

  // Waits and reads the meter as often as it needs.
  void Wait(int64_t ns) {
    while (ns > 0) {
      if (options_.cancel && options_.cancel->cancelled()) Fail(Code::kCancelled, "energy", "interrupted");
      const int64_t piece = std::min({ns, bench_.meter.poll_ns(), kCancelNs});
      bench_.wait(piece);
      bench_.meter.Read();
      ns -= piece;
    }
  }

  static constexpr int64_t kCancelNs = 200'000'000;  // a guess: an acceptable delay after Ctrl-C

  const Machine& machine_;
  EnergyBench& bench_;
  const EnergyProfileOptions& options_;
  const EnergyEffort effort_;
  int done_ = 0;
};

}  // namespace

double ReuseLoad::flops_per_byte() const { return in_cache ? kComputeBoundRate : ReuseRate(multiply_adds); }

EnergyEffort EffortOf(const Machine& machine, const EnergyBench& bench, const EnergyProfileOptions& options) {
  EnergyEffort effort{0, kIdleSpans * bench.meter.span_ns()};
  for (size_t c = 0; c < machine.clusters.size(); ++c) {
    const size_t frequencies = Pick(bench.frequencies.Khz(c), options.frequencies).size();
    effort.points += int(frequencies * CoreCounts(int(FirstThreads(machine.clusters[c]).size())).size() *
                         std::size(kLoads));
  }
  const int64_t settle_ns = SettleNs(bench.meter);
  const int runs = effort.points + (machine.clusters.size() > 1);  // MemoryOfAll() is one more run
  effort.ns += runs * (settle_ns + bench.meter.span_ns()) + settle_ns;
  return effort;
}

EnergyCurves MeasureEnergy(const Machine& machine, EnergyBench& bench, const EnergyProfileOptions& options) {
  return Profiler(machine, bench, options).Do();
}

}  // namespace mete
