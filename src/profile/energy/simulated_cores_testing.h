// Simulated cores that compute and take energy by a machine file's figures. Their time passes only in Pass().
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "machine/energy.h"
#include "profile/energy/energy_profile.h"

namespace mete {

inline constexpr double kWithoutWork = 0.7;  // watts of the rest of the machine

class SimulatedCores {
 public:
  explicit SimulatedCores(const MachineFile& file)
      : file_(file),
        model_(file, [this] { return ns_; }),
        khz_(file.clusters.size()),
        busy_(file.clusters.size()) {}

  void SetKhz(size_t cluster, int64_t khz) { khz_[cluster] = khz; }

  void Begin(const std::vector<int>& cores, const ReuseLoad& load) {
    load_ = load;
    flops_ = 0;
    for (size_t c = 0; c < busy_.size(); ++c) {
      const std::vector<int>& all = file_.machine.clusters[c].cores;
      const auto is_ours = [&](int core) { return std::find(all.begin(), all.end(), core) != all.end(); };
      busy_[c] = int(std::count_if(cores.begin(), cores.end(), is_ours));
      if (busy_[c] > 0) model_.Wake(c);
      else model_.LetSleep(c);
    }
  }

  void Pass(int64_t ns) {
    ns_ += ns;
    double gflops = 0;
    for (size_t c = 0; c < busy_.size(); ++c) {
      model_.Busy(c, double(khz_[c]) * 1e-3, busy_[c] * ns);
      gflops += Gflops(c);
    }
    const double most = file_.memory_gbytes_per_s.value * load_.flops_per_byte();
    flops_ += (load_.in_cache ? gflops : std::min(gflops, most)) * double(ns);
  }

  int64_t ns() const { return ns_; }
  double flops() const { return flops_; }
  double joules() { return model_.Read().joules + kWithoutWork * double(ns_) * 1e-9; }

 private:
  double Gflops(size_t c) const {
    const ClusterFigures& f = file_.clusters[c];
    const double peak =
        busy_[c] * f.f32_gflops() * f.compute_share.value * double(khz_[c]) * 1e-3 / f.max_mhz.value;
    return load_.in_cache ? peak : std::min(peak, load_.flops_per_byte() * f.gbytes_per_s.value);
  }

  const MachineFile& file_;
  int64_t ns_ = 0;
  ModelMeter model_;
  std::vector<int64_t> khz_;
  std::vector<int> busy_;
  ReuseLoad load_;
  double flops_ = 0;
};

class SimulatedLoad : public EnergyLoad {
 public:
  SimulatedLoad(SimulatedCores& cores, std::function<void(int64_t)> pass)
      : cores_(cores), pass_(std::move(pass)) {}

  void Start(const std::vector<int>& cores, const ReuseLoad& load) override {
    pass_(kStartNs);  // an odd time, so that the load is not in phase with the meter
    cores_.Begin(cores, load);
    ++starts;
  }
  double Flops() override { return cores_.flops(); }
  void Stop() override {
    cores_.Begin({}, {});
    ++stops;
  }

  static constexpr int64_t kStartNs = 370'000;
  int starts = 0, stops = 0;

 private:
  SimulatedCores& cores_;
  const std::function<void(int64_t)> pass_;
};

}  // namespace mete
