#include "run/plan_in_use.h"

#include <algorithm>
#include <utility>

namespace mete {

double PlannedUs(const Plan& plan, size_t processor) {
  double us = 0;
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares)
      if (size_t(share.processor) == processor) us += share.compute_us;
  return us;
}

void PlanInUse::Use(std::vector<size_t> members, ReadyPlan ready) {
  std::vector<Part> parts;
  for (size_t d = 0; d < members.size(); ++d) parts.push_back({PlannedUs(ready.plan, d), {}});
  std::lock_guard lock(mutex_);
  members_ = std::move(members);
  std::swap(ready_, ready);  // the former one goes when the lock is open again
  parts_ = std::move(parts);
  dropped_ = false;
}

std::optional<std::vector<size_t>> PlanInUse::Drop(const std::shared_ptr<DeployedPlan>& deployed) {
  std::lock_guard lock(mutex_);
  if (ready_.deployed != deployed) return std::nullopt;
  ready_.deployed.reset();  // the caller has another reference
  dropped_ = true;
  return members_;
}

Plan PlanInUse::plan() const {
  std::lock_guard lock(mutex_);
  return ready_.plan;
}

std::vector<size_t> PlanInUse::members() const {
  std::lock_guard lock(mutex_);
  return members_;
}

std::shared_ptr<DeployedPlan> PlanInUse::deployed() const {
  std::lock_guard lock(mutex_);
  return ready_.deployed;
}

double PlanInUse::usual_us() const {
  std::lock_guard lock(mutex_);
  return ready_.usual_us;
}

double PlanInUse::ExpectedUs() const {
  std::lock_guard lock(mutex_);
  return std::max(ready_.usual_us, ready_.plan.predicted_us);
}

ReadyPlan PlanInUse::ready() const {
  std::lock_guard lock(mutex_);
  return ready_;
}

bool PlanInUse::ServesAll(const std::vector<size_t>& members) const {
  std::lock_guard lock(mutex_);
  return !dropped_ && members_ == members && !(ready_.deployed && ready_.deployed->failed());
}

void PlanInUse::Learn(double us, std::span<const double> compute_us, const DeployedPlan* deployed) {
  std::lock_guard lock(mutex_);
  if (ready_.deployed.get() != deployed || dropped_) return;
  double& usual_us = ready_.usual_us;
  usual_us = usual_us == 0 ? us : Smoothed(usual_us, us);
  for (size_t d = 0; d < std::min(compute_us.size(), parts_.size()); ++d) {
    // A worker's report is believed if it is possible: a number, and no longer than the request took.
    if (compute_us[d] > 0 && compute_us[d] <= us && parts_[d].planned_us > 0)
      parts_[d].drift.Add(compute_us[d], parts_[d].planned_us);
  }
}

std::optional<PlanDrift> PlanInUse::TakeDrift() {
  std::lock_guard lock(mutex_);
  if (dropped_ || std::none_of(parts_.begin(), parts_.end(), [](const Part& p) { return p.drift.Lasts(); }))
    return std::nullopt;
  PlanDrift taken{members_, {}, ready_.plan};
  for (Part& part : parts_) {
    taken.ratios.push_back(part.drift.ratio());
    part.planned_us *= part.drift.ratio();
    part.drift = {};
  }
  for (PlannedGroup& group : ready_.plan.groups)
    for (Share& share : group.shares) share.compute_us *= taken.ratios[size_t(share.processor)];
  return taken;
}

}  // namespace mete
