// The thread that keeps a session's plan: tries lost devices again, corrects costs, plans and deploys.
#include <algorithm>

#include "base/error.h"
#include "caller/devices_session.h"
#include "plan/devices/dynamic.h"
#include "processor/simulated/devices/simulate_devices.h"

namespace mete {
namespace {

constexpr std::chrono::milliseconds kLook{100};           // how often something is looked for; guess
constexpr std::chrono::milliseconds kHelloTimeout{1000};  // guess: more than a busy board is late
constexpr double kGain = 0.95;                            // of the time: a plan that gains less is not worth deploying. Guess

// What a plan takes where devices are faster or slower than it says.
double ScaledUs(const Graph& graph, DevicesPlan plan, const PoolCosts& costs, const std::vector<double>& ratios) {
  for (PlannedGroup& group : plan.groups)
    for (DeviceShare& share : group.shares) share.compute_us *= ratios[size_t(share.device)];
  return SimulateDevices(graph, plan, costs).us;
}

// What the plan predicts for a device to compute.
double PlannedUs(const DevicesPlan& plan, size_t device) {
  double us = 0;
  for (const PlannedGroup& group : plan.groups)
    for (const DeviceShare& share : group.shares)
      if (size_t(share.device) == device) us += share.compute_us;
  return us;
}

}  // namespace

void DevicesSession::Keep() {
  for (;;) {
    bool rebuild = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kLook, [&] { return stop_ || rebuild_; });
      if (stop_) return;
      rebuild = rebuild_;
    }
    try {
      // What is corrected is judged by the plan of least latency.
      const bool ours = options_.planner == "dynamic" && options_.objective == DevicesObjective::kLatency;
      if (rebuild || TryAgain() || (options_.remake && ours && Correct())) Rebuild();
    } catch (const Error& error) {
      options_.tell(fmt::format("the plan stays as it is: {}", error.what()));
    }
  }
}

bool DevicesSession::SaysHello(size_t device) {
  try {
    (void)remotes_[device]->Hello(kHelloTimeout);
    return true;
  } catch (const Error& error) {
    std::lock_guard lock(mutex_);
    LoseMember(device, error.what());
    return false;
  }
}

bool DevicesSession::TryAgain() {
  bool back = false;
  for (size_t d = 1; d < remotes_.size(); ++d) {
    {
      std::lock_guard lock(mutex_);
      if (stop_ || members_[d].there || Clock::now() < members_[d].next_try) continue;
    }
    if (!SaysHello(d)) continue;
    std::lock_guard lock(mutex_);
    members_[d].there = back = true;
    members_[d].since = Clock::now();
    options_.tell(fmt::format("{} is there again", costs_.devices[d].name));
  }
  return back;
}

// Whoever is not there is found out now rather than by a deployment that waits for it.
void DevicesSession::DropSilent() {
  std::vector<size_t> there;
  {
    std::lock_guard lock(mutex_);
    there = There();
  }
  for (const size_t d : there)
    if (remotes_[d]) (void)SaysHello(d);
}

bool DevicesSession::Correct() {
  std::vector<double> ratios;
  PoolCosts costs;
  DevicesPlan plan;
  {
    std::lock_guard lock(mutex_);
    if (rebuild_ || std::none_of(planned_.begin(), planned_.end(), [&](size_t d) { return members_[d].drift.Lasts(); })) return false;
    for (const size_t d : planned_) {
      Member& member = members_[d];
      ratios.push_back(member.drift.ratio());
      member.scale *= member.drift.ratio();
      member.planned_us *= member.drift.ratio();
      member.drift = {};
    }
    costs = CostsOf(planned_);
    plan = plan_;
    for (PlannedGroup& group : plan_.groups)  // the next correction begins where this one ends
      for (DeviceShare& share : group.shares) share.compute_us *= ratios[size_t(share.device)];
  }
  const double before_us = ScaledUs(graph_, plan, costs, ratios), after_us = PlanDevices(graph_, costs).predicted_us;
  if (after_us >= kGain * before_us) return false;
  options_.tell(fmt::format("devices are not as fast as the costs say: planned again, {:.1f} instead of {:.1f} ms", after_us * 1e-3,
                            before_us * 1e-3));
  return true;
}

void DevicesSession::Rebuild() {
  for (;;) {
    DropSilent();
    try {
      if (Deploy()) return;
    } catch (const Error& error) {
      options_.tell(fmt::format("this device computes alone: {}", error.what()));
      PoolCosts own;
      {
        std::lock_guard lock(mutex_);
        own = CostsOf({0});
      }
      return Use({0}, PlanAlone(graph_, own, 0), nullptr);
    }
  }
}

bool DevicesSession::Deploy() {
  digests_ = {};  // of shares that were cut for the former plan
  std::vector<size_t> members;
  PoolCosts costs;
  {
    std::lock_guard lock(mutex_);
    if (stop_) return true;
    members = There();
    costs = CostsOf(members);
  }
  std::vector<RemoteDevice*> remotes;
  for (const size_t d : members) remotes.push_back(remotes_[d].get());
  try {
    const ComparedPlan made = MakePlan(options_.planner, costs, remotes);
    {
      std::lock_guard lock(mutex_);
      stats_.measured = made.measured;
      stats_.plan_s = made.plan_s;
    }
    auto [plan, deployed] = Best(made.plan, costs, remotes);
    Use(members, plan, std::move(deployed));
    return true;
  } catch (const DeviceError& error) {
    if (error.device() <= 0) throw;
    std::lock_guard lock(mutex_);
    LoseMember(members[size_t(error.device())], error.what());
    return false;
  }
}

void DevicesSession::Use(const std::vector<size_t>& members, const DevicesPlan& plan, std::shared_ptr<DeployedPlan> deployed) {
  std::lock_guard lock(mutex_);
  planned_ = members;
  plan_ = plan;
  deployed_.swap(deployed);  // the former one goes when the lock is open again
  usual_us_ = 0;
  for (size_t d = 0; d < members.size(); ++d) members_[members[d]].drift = {}, members_[members[d]].planned_us = PlannedUs(plan, d);
  rebuild_ = false;
  ++stats_.plans;
}

}  // namespace mete
