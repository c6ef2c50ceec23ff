#include "schedule/speeds.h"

#include <algorithm>

namespace mete {
namespace {

// How much a new observation counts. Guesses: what is usual changes over tens of runs, a disturbance within two or three blocks.
constexpr double kUsualGain = 0.1, kSlowdownGain = 0.5;

}  // namespace

void Speeds::Begin(int64_t region, int64_t now_ns) {
  region_ = size_t(region);
  if (usual_.size() <= region_) usual_.resize(region_ + 1);
  usual_[region_].resize(workers_.size(), 0);
  known_ = std::any_of(usual_[region_].begin(), usual_[region_].end(), [](double ns) { return ns > 0; });
  for (Worker& w : workers_) w.blocks = 0, w.start_ns = now_ns;
}

void Speeds::Start(int worker, int64_t blocks, int64_t now_ns) {
  workers_[size_t(worker)].blocks = blocks;
  workers_[size_t(worker)].start_ns = now_ns;
}

void Speeds::Finish(int worker, int64_t now_ns) {
  Worker& w = workers_[size_t(worker)];
  if (w.blocks == 0) return;
  const double ns = double(std::max<int64_t>(now_ns - w.start_ns, 1)) / double(w.blocks);
  double& usual = usual_[region_][size_t(worker)];
  if (usual > 0) {
    w.slowdown += kSlowdownGain * (ns / usual - w.slowdown);
    usual += kUsualGain * (ns - usual);
  } else {
    usual = ns / w.slowdown;
    known_ = true;
  }
  w.blocks = 0;
}

// Of a worker that has not computed this step yet: by the plan's speeds from one that has.
double Speeds::Usual(int worker) const {
  const std::vector<double>& usual = usual_[region_];
  if (usual[size_t(worker)] > 0) return usual[size_t(worker)];
  for (size_t v = 0; v < usual.size(); ++v)
    if (usual[v] > 0) return usual[v] * workers_[v].speed / workers_[size_t(worker)].speed;
  return 1 / workers_[size_t(worker)].speed;
}

double Speeds::BlockNs(int worker) const { return Usual(worker) * std::max(workers_[size_t(worker)].slowdown, 0.01); }

double Speeds::FreeAtNs(int worker, int64_t now_ns) const {
  const Worker& w = workers_[size_t(worker)];
  if (w.blocks == 0 || !known_) return double(now_ns);
  const double due = double(w.start_ns) + double(w.blocks) * BlockNs(worker), late = double(now_ns) - due;
  return late > 0 ? double(now_ns) + late : due;
}

}  // namespace mete
