// The thread that keeps a session's plan: tries lost processors again, corrects costs, plans and deploys.
#include <algorithm>
#include <future>

#include "base/error.h"
#include "base/unpinned.h"
#include "run/pool_session.h"
#include "plan/pool/dynamic.h"
#include "simulate/pool/simulate_pool.h"

namespace mete {
namespace {

constexpr std::chrono::milliseconds kLook{100};           // how often something is looked for; guess
constexpr std::chrono::milliseconds kHelloTimeout{1000};  // guess: more than a busy board is late
// of the time: a plan that gains less is not worth deploying. Guess
constexpr double kGain = 0.95;

// What a plan takes where processors are faster or slower than it says.
double ScaledUs(const Graph& graph, Plan plan, const PoolCosts& costs, const std::vector<double>& ratios) {
  for (PlannedGroup& group : plan.groups)
    for (Share& share : group.shares) share.compute_us *= ratios[size_t(share.processor)];
  return SimulatePool(graph, plan, costs).us;
}

// What the plan predicts for a processor to compute.
double PlannedUs(const Plan& plan, size_t processor) {
  double us = 0;
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares)
      if (size_t(share.processor) == processor) us += share.compute_us;
  return us;
}

}  // namespace

void PoolSession::Keep() {
  for (;;) {
    bool rebuild = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kLook, [&] { return ending_.cancelled() || rebuild_; });
      if (ending_.cancelled()) return;
      rebuild = rebuild_;
    }
    std::lock_guard keeping(keeping_);
    try {
      // What is corrected is judged by the plan of least latency.
      const bool ours = options_.planner == "dynamic" && options_.objective == PoolObjective::kLatency;
      const bool again = again_at_ && Clock::now() >= *again_at_;
      if (rebuild || again || TryAgain() || (options_.remake && ours && Correct())) Rebuild();
    } catch (const std::exception& error) {
      Tell(fmt::format("the plan stays as it is: {}", error.what()));
    }
  }
}

bool PoolSession::SaysHello(size_t processor) {
  try {
    pool_[processor]->CheckThere(kHelloTimeout);
    return true;
  } catch (const Error& error) {
    {
      std::lock_guard lock(mutex_);
      LoseMember(processor, error, IsRefusal(error.code()));
    }
    TellAll();
    return false;
  }
}

// All at the same time: of hundreds that are gone each takes as long as a connection is tried.
std::vector<size_t> PoolSession::WhoAnswers(const std::vector<size_t>& processors) {
  std::vector<std::future<bool>> asked;
  for (const size_t d : processors)
    asked.push_back(std::async(std::launch::async, Unpinned([this, d] { return SaysHello(d); })));
  std::vector<size_t> answer;
  for (size_t i = 0; i < processors.size(); ++i)
    if (asked[i].get()) answer.push_back(processors[i]);
  return answer;
}

bool PoolSession::TryAgain() {
  std::vector<size_t> due;
  {
    std::lock_guard lock(mutex_);
    for (size_t d = 1; d < states_.size(); ++d)
      if (!states_[d].there && states_[d].back_off.Due(Clock::now())) due.push_back(d);
  }
  const std::vector<size_t> back = WhoAnswers(due);
  {
    std::lock_guard lock(mutex_);
    for (const size_t d : back) {
      states_[d].there = true;
      if (!states_[d].refusal) untold_.push_back(fmt::format("{} is there again", costs_.processors[d].name));
    }
  }
  TellAll();
  return !back.empty();
}

// Whoever is not there is found out now rather than by a deployment that waits for it.
void PoolSession::DropSilent() {
  std::vector<size_t> there;
  {
    std::lock_guard lock(mutex_);
    there = There();
  }
  std::erase(there, size_t{0});  // this processor
  (void)WhoAnswers(there);
}

bool PoolSession::Correct() {
  std::vector<double> ratios;
  PoolCosts costs;
  Plan plan;
  {
    std::lock_guard lock(mutex_);
    if (rebuild_ ||
        std::none_of(planned_.begin(), planned_.end(), [&](size_t d) { return states_[d].drift.Lasts(); }))
      return false;
    for (const size_t d : planned_) {
      MemberState& member = states_[d];
      ratios.push_back(member.drift.ratio());
      member.scale *= member.drift.ratio();
      member.planned_us *= member.drift.ratio();
      member.drift = {};
    }
    costs = CostsOf(planned_);
    plan = plan_;
    for (PlannedGroup& group : plan_.groups)  // the next correction begins where this one ends
      for (Share& share : group.shares) share.compute_us *= ratios[size_t(share.processor)];
  }
  const double before_us = ScaledUs(graph_, plan, costs, ratios),
               after_us = PlanPool(graph_, costs).predicted_us;
  if (after_us >= kGain * before_us) return false;
  Tell(fmt::format("processors are not as fast as the costs say: planned again, {:.1f} instead of {:.1f} ms",
                   after_us * 1e-3, before_us * 1e-3));
  return true;
}

void PoolSession::Rebuild() {
  for (bool first = true;; first = false) {
    DropSilent();
    if (!first && PlanServesAll()) return;  // who has come could not serve: the others go on as they did
    try {
      if (Deploy()) return;
    } catch (const std::exception& error) {
      if (ending_.cancelled()) return;
      return StayAlone(error.what());
    }
  }
}

void PoolSession::StayAlone(const std::string& why) {
  again_at_ = Clock::now() + options_.again;
  if (why == why_alone_) return;
  why_alone_ = why;
  Tell("this processor computes alone: " + why);
  PoolCosts own;
  {
    std::lock_guard lock(mutex_);
    own = CostsOf({0});
  }
  Use({0}, {PlanAlone(graph_, own, 0), nullptr});
}

bool PoolSession::PlanServesAll() const {
  std::lock_guard lock(mutex_);
  return !rebuild_ && planned_ == There() && !(deployed_ && deployed_->failed());
}

bool PoolSession::Deploy() {
  if (ending_.cancelled()) return true;
  for (const auto& member : pool_)
    if (member) member->ForgetShares();  // they were cut for the former plan
  std::vector<size_t> members;
  PoolCosts costs;
  {
    std::lock_guard lock(mutex_);
    members = There();
    costs = CostsOf(members);
  }
  std::vector<Member*> planned;
  for (const size_t d : members) planned.push_back(pool_[d].get());
  try {
    const ComparedPlan made = MakeOwnPlan(costs, planned);
    {
      std::lock_guard lock(mutex_);
      stats_.measured = made.measured;
      stats_.plan_s = made.plan_s;
    }
    Use(members, Best(made.plan, costs, planned));
    why_alone_.clear();
    again_at_.reset();
    return true;
  } catch (const ProcessorError& error) {
    if (error.processor() <= 0) throw;
    {
      std::lock_guard lock(mutex_);
      LoseMember(members[size_t(error.processor())], error, IsRefusal(error.code()));
    }
    TellAll();
    return false;
  }
}

void PoolSession::Use(const std::vector<size_t>& members, ReadyPlan ready) {
  {
    std::lock_guard lock(mutex_);
    planned_ = members;
    plan_ = std::move(ready.plan);
    deployed_.swap(ready.deployed);  // the former one goes when the lock is open again
    usual_us_ = ready.usual_us;
    for (size_t d = 0; d < members.size(); ++d) {
      MemberState& member = states_[members[d]];
      member.drift = {};
      member.planned_us = PlannedUs(plan_, d);
      if (member.planned_us == 0) continue;
      member.back_off.Serves(Clock::now());
      if (std::exchange(member.refusal, std::nullopt))
        untold_.push_back(fmt::format("{} serves now", costs_.processors[members[d]].name));
    }
    rebuild_ = false;
    ++stats_.plans;
  }
  TellAll();
}

}  // namespace mete
