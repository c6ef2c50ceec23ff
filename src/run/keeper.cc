#include "run/keeper.h"

#include <utility>

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/free_memory.h"
#include "base/unpinned.h"
#include "plan/pool/dynamic.h"
#include "plan/pool/lacks.h"
#include "plan/pool/named.h"
#include "run/trial.h"
#include "simulate/pool/simulate_pool.h"

namespace mete {
namespace {

// A plan is worth deploying if it takes at most this share of the time. Guess.
constexpr double kGain = 0.95;

// Returns the time of a plan where processors are faster or slower than it says.
double ScaledUs(const Graph& graph, Plan plan, const PoolCosts& costs, const std::vector<double>& ratios) {
  for (PlannedGroup& group : plan.groups)
    for (Share& share : group.shares) share.compute_us *= ratios[size_t(share.processor)];
  return SimulatePool(graph, plan, costs).us;
}

}  // namespace

Keeper::~Keeper() {
  Wake();
  if (thread_.joinable()) thread_.join();
}

void Keeper::Start() {
  thread_ = std::thread(Unpinned([this] { Keep(); }));
}

void Keeper::TellLacks() {
  for (size_t d = 1; d < parts_.members.size(); ++d) {
    const ProcessorCosts costs = parts_.members.PartOf({d}).costs.processors[0];
    for (const std::string& lack : LacksOf(parts_.runner.graph(), costs)) {
      const std::string note = fmt::format("{} {}; others do", costs.name, lack);
      if (told_lacks_.insert(note).second) parts_.teller.Tell(note);
    }
  }
}

void Keeper::BeginAlone() {
  const std::vector<std::string> late = parts_.members.LateOnes(parts_.members.Answering());
  parts_.teller.Tell(fmt::format("kernels of {} are being built; {} computes alone until then",
                                 fmt::join(late, ", "), parts_.home.processor().info().name));
  UseHomeAlone();
  has_first_ = false;
}

bool Keeper::has_first() const {
  std::lock_guard lock(mutex_);
  return has_first_;
}

void Keeper::HasAnswered() {
  std::unique_lock lock(mutex_);
  if (may_begin_) return;
  may_begin_ = true;
  lock.unlock();
  wake_.notify_all();
}

void Keeper::AwaitAnswer() {
  std::unique_lock lock(mutex_);
  clock_.WaitUntil(wake_, lock, clock_.Now() + kUnasked,
                   [this] { return may_begin_ || parts_.ending.cancelled(); });
}

void Keeper::AwaitFirst() {
  HasAnswered();  // the caller waits for the plan, not for an answer
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return has_first_; });
}

// A processor that is not there hinders no other: it is measured when it has come back. One that was lost
// while it was measured, and is there again at once, is measured once more.
void Keeper::MeasureUnknown() {
  for (bool again = false; measures_;) {
    parts_.members.DropSilent();
    if (parts_.ending.cancelled()) return;  // then no processor counts as lost
    const std::vector<size_t> answering = parts_.members.Answering();
    if (answering.size() == 1 || parts_.members.AreMeasured(answering)) return;
    try {
      return Measure(answering);
    } catch (const Error& error) {
      parts_.members.ForgetShares();
      parts_.members.DropSilent();
      if (parts_.members.Answering() != answering) continue;  // one of them has gone: the others are measured
      measures_ = error.code() == Code::kUnavailable && !again;
      again = true;
      if (!measures_) throw;
    }
  }
}

// Requests that the plan in use computed meanwhile would be in the times: the home has them alone, whose
// turns the measurement respects.
void Keeper::Measure(const std::vector<size_t>& processors) {
  if (parts_.in_use.deployed()) UseHomeAlone();
  const std::vector<Member*> members = parts_.members.PartOf(processors).members;
  parts_.members.SetCosts(processors, options_.measure({parts_.home.processor(), parts_.home.turn(),
                                                        processors, members, parts_.ending}));
  TellLacks();
}

// Without costs there is nothing to plan by: the home computes alone for good.
void Keeper::MakeFirst() {
  AwaitAnswer();
  {
    std::lock_guard keeping(keeping_);
    try {
      parts_.home.Settle(parts_.ending);
      if (!options_.measure) TellLacks();
      Rebuild();
      const std::vector<std::string> built = parts_.members.LateOnes(parts_.members.There());
      if (why_alone_.empty() && !built.empty() && !parts_.ending.cancelled())
        parts_.teller.Tell(fmt::format("kernels of {} are built; from now on: {}", fmt::join(built, ", "),
                                       Summary(parts_.in_use.plan())));
    } catch (const std::exception& error) {
      if (!parts_.ending.cancelled()) StayAlone(error.what());
    }
  }
  {
    std::lock_guard lock(mutex_);
    has_first_ = true;
  }
  wake_.notify_all();
}

void Keeper::AskToRebuild() {
  {
    std::lock_guard lock(mutex_);
    rebuild_ = true;
  }
  wake_.notify_all();
}

void Keeper::Wake() {
  { std::lock_guard lock(mutex_); }  // the thread sleeps, or has not yet looked
  wake_.notify_all();
}

KeeperStats Keeper::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

bool Keeper::Wait() {
  std::unique_lock lock(mutex_);
  clock_.WaitUntil(wake_, lock, clock_.Now() + kLook, [&] { return parts_.ending.cancelled() || rebuild_; });
  return std::exchange(rebuild_, false);
}

void Keeper::Keep() {
  if (!has_first()) MakeFirst();
  for (;;) {
    const bool fails = Wait();
    if (parts_.ending.cancelled()) return;
    std::lock_guard keeping(keeping_);
    try {
      LookAfterPlan(fails);
    } catch (const std::exception& error) {
      if (fails || Due()) again_at_ = clock_.Now() + options_.again;
      parts_.teller.Tell(fmt::format("the plan stays as it is: {}", error.what()));
    }
  }
}

void Keeper::LookAfterPlan(bool fails) {
  // Corrected costs are judged by the plan of least latency.
  const bool corrects =
      options_.remake && options_.planner == "dynamic" && options_.objective == PoolObjective::kLatency;
  // A request may have asked while the plan was being made again.
  const bool fails_still = fails && !parts_.in_use.ServesAll(parts_.members.There());
  if (fails_still || Due() || parts_.members.TryAgain() || (corrects && Correct())) Rebuild();
}

bool Keeper::Due() { return again_at_ && clock_.Now() >= *again_at_; }

bool Keeper::Correct() {
  const std::optional<PlanDrift> drift = parts_.in_use.TakeDrift();
  if (!drift) return false;
  for (size_t d = 0; d < drift->members.size(); ++d)
    parts_.members.Correct(drift->members[d], drift->ratios[d]);
  const Graph& graph = parts_.runner.graph();
  const PoolCosts costs = parts_.members.PartOf(drift->members).costs;
  const double before_us = ScaledUs(graph, drift->plan, costs, drift->ratios),
               after_us = PlanPool(graph, costs).predicted_us;
  if (after_us >= kGain * before_us) return false;
  parts_.teller.Tell(
      fmt::format("processors are not as fast as the costs say: planned again, {:.1f} instead of {:.1f} ms",
                  after_us * 1e-3, before_us * 1e-3));
  return true;
}

// Where some have been measured before, the others cost a note.
void Keeper::MeasureIfPossible() {
  try {
    MeasureUnknown();
  } catch (const Error& error) {
    if (parts_.ending.cancelled() || !parts_.members.AreMeasured({0})) throw;
    parts_.teller.Tell(
        fmt::format("processors that were not measured are left out for good: {}", error.what()));
  }
}

void Keeper::Rebuild() {
  MeasureIfPossible();
  if (parts_.ending.cancelled()) return;
  if (!parts_.members.AreMeasured({0})) {
    if (measures_) StayAlone("no other processor is there");
    return;
  }
  for (bool first = true;; first = false) {
    // A processor that has gone is found now, and not by a deployment that waits for it.
    parts_.members.DropSilent();
    // The processor that came back could not serve: the others go on as before.
    if (!first && parts_.in_use.ServesAll(parts_.members.There())) return;
    try {
      if (Deploy()) return;
    } catch (const std::exception& error) {
      if (parts_.ending.cancelled()) return;
      if (const auto* told = dynamic_cast<const Error*>(&error); told && IsOfGivenPlan(*told)) throw;
      return StayAlone(error.what());
    }
  }
}

bool Keeper::Deploy() {
  if (parts_.ending.cancelled()) return true;
  parts_.members.ForgetShares();  // they were cut for the former plan
  const PoolPart part = parts_.members.PartOf(parts_.members.There());
  try {
    const MadePlan made = MakePlan(part);
    {
      std::lock_guard lock(mutex_);
      stats_.measured = made.measured;
      stats_.plan_s = made.plan_s;
    }
    Use(part.indices, Tried(made.plan, part));
    ReturnFreeMemory();  // of the plans that were not taken
    why_alone_.clear();
    again_at_.reset();
    return true;
  } catch (const ProcessorError& error) {
    if (error.processor() <= 0 || IsOfGivenPlan(error)) throw;
    parts_.members.Lose(part.indices[size_t(error.processor())], error, LossOf(error.code()));
    return false;
  }
}

// Returns whether the session cannot begin because the plan of the options is wrong.
bool Keeper::IsOfGivenPlan(const Error& error) const {
  std::lock_guard lock(mutex_);
  return options_.plan && stats_.plans == 0 && error.code() == Code::kInvalidArgument;
}

// Returns the plan of the options, or the planner's.
MadePlan Keeper::MakePlan(const PoolPart& part) const {
  if (options_.plan && part.indices.size() == parts_.members.size()) return {*options_.plan, 0, 0};
  return parts_.runner.Make(options_.planner, options_.objective, part);
}

// Returns the plan, or a faster one that its trial has found.
ReadyPlan Keeper::Tried(const Plan& plan, const PoolPart& part) {
  const bool latency = options_.objective == PoolObjective::kLatency;
  if (!options_.trial || !latency || plan.planner != "dynamic" || OnlyProcessor(plan) == 0)
    return {plan, parts_.runner.Deploy(plan, part.members)};
  PlanTrial trial = TryBesideSingles(plan, part, parts_.runner);
  {
    std::lock_guard lock(mutex_);
    stats_.measured += trial.measured;
  }
  if (!trial.note.empty()) parts_.teller.Tell(trial.note);
  return std::move(trial.best);
}

void Keeper::StayAlone(const std::string& why) {
  again_at_ = clock_.Now() + options_.again;
  if (why == why_alone_) return;
  why_alone_ = why;
  parts_.teller.Tell("this processor computes alone: " + why);
  UseHomeAlone();
}

void Keeper::UseHomeAlone() {
  Use({0}, {PlanAlone(parts_.runner.graph(), parts_.members.PartOf({0}).costs, 0), nullptr});
}

void Keeper::Use(const std::vector<size_t>& members, ReadyPlan ready) {
  for (size_t d = 0; d < members.size(); ++d)
    if (PlannedUs(ready.plan, d) > 0) parts_.members.Serves(members[d]);
  parts_.runner.PutThreads(ready);
  parts_.in_use.Use(members, std::move(ready));
  std::lock_guard lock(mutex_);
  ++stats_.plans;
}

}  // namespace mete
