// Prints `mete plan --processors`: which processor computes which part of which group of layers.
#pragma once

#include "context.h"
#include "mete/pool.h"

namespace mete::cli {

struct PlanPoolFlags {
  std::string model;       // as the user named it
  std::string processors;  // a list, a file, or the name of an installed file
  std::string machine;     // the machine file of a list's processors; empty: they are here, or of a file
  bool exact = false;      // bytes of GPUs are those of a CPU's kernels
  std::string objective;   // one of PoolObjectives()
  std::string planner;     // one of PoolPlanners()
  std::string save_plan;   // empty: the plan is not written
  bool explain = false;    // print links, too, and why processors have no part (explain_pool.h)
};

void PlanForPool(const Model& model, const PlanPoolFlags& flags, const Context& context);

}  // namespace mete::cli
