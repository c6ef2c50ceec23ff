// Holds the plan by which a session computes, and learns from its requests what the plan takes.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "run/deployed_plan.h"
#include "run/drift.h"

namespace mete {

// A deployed plan.
struct ReadyPlan {
  Plan plan;
  std::shared_ptr<DeployedPlan> deployed;  // null: the home alone
  double usual_us = 0;                     // of a request; 0: not measured
};

// Says how far the times of a plan's processors have been from its predictions for long.
struct PlanDrift {
  std::vector<size_t> members;  // as given to Use()
  std::vector<double> ratios;   // by member
  Plan plan;                    // with the predictions before their correction
};

// Thread-safe.
class PlanInUse {
 public:
  // Puts a plan in use. `members` are the indices of its processors in the pool.
  void Use(std::vector<size_t> members, ReadyPlan ready);
  // Ends the use of a deployed plan that has failed. Returns its members; nothing if another request has
  // ended the use before.
  std::optional<std::vector<size_t>> Drop(const std::shared_ptr<DeployedPlan>& deployed);

  Plan plan() const;
  std::vector<size_t> members() const;
  std::shared_ptr<DeployedPlan> deployed() const;  // null: the home computes alone
  double usual_us() const;                         // of a request: of the plan's trial, then as measured
  double ExpectedUs() const;                       // the longer of usual_us() and the prediction
  ReadyPlan ready() const;

  // Returns true if the plan is for exactly these members and works.
  bool ServesAll(const std::vector<size_t>& members) const;

  // Takes in the times of a request by this plan. `deployed` is null if the home has computed it alone.
  void Learn(double us, std::span<const double> compute_us, const DeployedPlan* deployed);
  // Returns the drift of all processors once one of them has been faster or slower than predicted for long.
  // The plan's predictions are corrected by it, so that the next drift begins where this one ends.
  std::optional<PlanDrift> TakeDrift();

 private:
  struct Part {
    double planned_us = 0;  // the predicted computing time of the processor
    ProcessorDrift drift;   // of its computing time from that
  };

  mutable std::mutex mutex_;
  std::vector<size_t> members_;
  ReadyPlan ready_;
  std::vector<Part> parts_;  // by member
  bool dropped_ = false;     // the plan has failed, and the home computes alone until another is used
};

// Returns the time that the plan predicts for a processor to compute.
double PlannedUs(const Plan& plan, size_t processor);

}  // namespace mete
