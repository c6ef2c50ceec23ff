// Keeps a session's plan: plans, deploys, and, on a thread of its own, tries lost processors again, corrects
// costs by what was measured, and plans again where that gains something.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "run/plan_in_use.h"
#include "run/plan_runner.h"
#include "run/pool_members.h"
#include "run/pool_session_options.h"
#include "run/teller.h"

namespace mete {

struct KeeperStats {
  int64_t plans = 0;  // deployed plans
  int measured = 0;   // plans or parts of plans that the planner and the last trial have run
  double plan_s = 0;  // seconds of the last planning, with the planner's measurements
};

class Keeper {
 public:
  static constexpr std::chrono::milliseconds kLook{100};  // between two looks for work; guess
  // How long the first request is waited for before the home is measured, so that it has the processors to
  // itself. This value is a guess: most programs ask at once.
  static constexpr std::chrono::milliseconds kUnasked{1000};

  // The parts of the session that the keeper works with; it keeps the references.
  struct Parts {
    PoolMembers& members;
    PlanInUse& in_use;
    const PlanRunner& runner;
    const HomeModel& home;
    Teller& teller;
    const CancelToken& ending;
  };
  Keeper(const PoolSessionOptions& options, const Parts& parts)
      : options_(options), clock_(*options.deploy.clock), parts_(parts), measures_(bool(options.measure)) {}
  ~Keeper();  // `ending` must be cancelled before

  // Plans for all processors that are there, and deploys the plan. Measures them before, where nobody has.
  // The thread that makes the session calls this function before Start(), or BeginAlone(), and then the
  // keeper makes the first plan in its thread.
  void Rebuild();
  // Tells which layers processors cannot compute, and why.
  void TellLacks();
  // Lets the home compute alone until processors that build kernels are ready.
  void BeginAlone();
  void Start();

  void HasAnswered();      // a request: the work for the first plan begins; thread-safe
  bool has_first() const;  // whether the first plan was made, or failed
  void AwaitFirst();

  void AskToRebuild();  // called when the plan in use has failed; thread-safe
  void Wake();          // makes the thread look at `ending`
  // While the caller has this lock, the keeper plans and deploys nothing, and asks no processor.
  std::unique_lock<std::mutex> Pause() { return std::unique_lock(keeping_); }

  KeeperStats stats() const;

 private:
  void AwaitAnswer();  // for kUnasked at most
  void MakeFirst();
  // Measures the processors that are there, if one of them never was. Tells what they lack.
  void MeasureUnknown();
  void MeasureIfPossible();
  void Measure(const std::vector<size_t>& processors);
  void UseHomeAlone();
  bool Wait();  // until there may be work; returns true if the plan in use has failed
  void Keep();
  void LookAfterPlan(bool fails);
  bool Due();
  bool Correct();  // corrects costs by measured times; returns true if another plan is worth it
  bool Deploy();   // false: a processor was lost meanwhile
  MadePlan MakePlan(const PoolPart& part) const;
  bool IsOfGivenPlan(const Error& error) const;
  ReadyPlan Tried(const Plan& plan, const PoolPart& part);
  void StayAlone(const std::string& why);
  void Use(const std::vector<size_t>& members, ReadyPlan ready);

  const PoolSessionOptions& options_;
  Clock& clock_;
  const Parts parts_;

  std::mutex keeping_;     // held while processors are asked, and plans made and deployed
  std::string why_alone_;  // why the home computes alone beside other processors; empty: it does not
  std::optional<Clock::Time> again_at_;  // when the keeper plans again after a failure
  bool measures_;                        // processors that never were: until one of them cannot be
  std::set<std::string> told_lacks_;     // a measurement tells none twice

  mutable std::mutex mutex_;  // for the members below
  std::condition_variable wake_;
  bool rebuild_ = false;
  bool has_first_ = true;
  bool may_begin_ = false;  // the work for the first plan
  KeeperStats stats_;
  std::thread thread_;
};

}  // namespace mete
