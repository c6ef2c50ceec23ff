// Keeps a session's plan: plans, deploys, and, on a thread of its own, tries lost processors again, corrects
// costs by what was measured, and plans again where that gains something.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "run/plan_in_use.h"
#include "run/plan_runner.h"
#include "run/pool_members.h"
#include "run/pool_session_options.h"
#include "run/teller.h"

namespace mete {

struct KeeperStats {
  int64_t plans = 0;  // that were deployed
  int measured = 0;   // plans or parts of plans that a planner, or the last trial, had run
  double plan_s = 0;  // that the planner took, with what it measured
};

class Keeper {
 public:
  static constexpr std::chrono::milliseconds kLook{100};  // how often something is looked for; guess

  // The parts of the session that the keeper works with; it keeps the references.
  struct Parts {
    PoolMembers& members;
    PlanInUse& in_use;
    const PlanRunner& runner;
    Teller& teller;
    const CancelToken& ending;
  };
  Keeper(const PoolSessionOptions& options, const Parts& parts)
      : options_(options), clock_(*options.deploy.clock), parts_(parts) {}
  ~Keeper();  // `ending` is cancelled

  // Plans for all who are there, and deploys. The thread that makes the session calls it before Start().
  void Rebuild();
  void Start();

  void AskToRebuild();  // as the plan in use fails; thread-safe
  void Wake();          // makes the thread look at `ending`
  // Nothing is planned, deployed or asked by the keeper while the caller has this.
  std::unique_lock<std::mutex> Pause() { return std::unique_lock(keeping_); }

  KeeperStats stats() const;

 private:
  bool Wait();  // until there may be something to do; returns whether a plan fails
  void Keep();
  void LookAfterPlan(bool fails);
  bool Due();
  bool Correct();  // costs by what was measured; whether that is worth another plan
  bool Deploy();   // false: a processor was lost meanwhile
  MadePlan MakePlan(const PoolPart& part) const;
  ReadyPlan Tried(const Plan& plan, const PoolPart& part);
  void StayAlone(const std::string& why);
  void Use(const std::vector<size_t>& members, ReadyPlan ready);

  const PoolSessionOptions& options_;
  Clock& clock_;
  const Parts parts_;

  std::mutex keeping_;                   // whoever asks processors, plans and deploys has it
  std::string why_alone_;                // though processors are there; empty: it is not
  std::optional<Clock::Time> again_at_;  // when what failed is tried again

  mutable std::mutex mutex_;  // all below
  std::condition_variable wake_;
  bool rebuild_ = false;
  KeeperStats stats_;
  std::thread thread_;
};

}  // namespace mete
