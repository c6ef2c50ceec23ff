// The planner for the cores of one CPU: how many of them take part in each step, down to one. A pure function
// of values; what it says is as true as the costs are.
//
// Threads are in the order of their speeds, and a step has the first so many. Its predicted time is, on one
// thread, the node's alone; on more, the time by which whole blocks are computed that were dealt out as well
// as possible (makespan.h), with what it costs each thread to take them, and the barrier; threads that have
// done nothing for longer than they spin are asleep, and the step waits until they are awake. Since that
// depends on the steps before, all steps are decided together: of the paths that end in the same number of
// threads, the fastest is kept from step to step.
#pragma once

#include "costs/costs.h"
#include "costs/profile.h"
#include "graph/graph.h"
#include "machine/machine.h"
#include "plan/plan.h"

namespace mete {

// A thread more must gain so much of the time of a step. Guess: far less than predictions err by, so that
// nothing that is known is given away, and more than nothing: each core takes energy, and one that is
// disturbed delays the others.
inline constexpr double kLeastGain = 0.01;

// As PlanOneCpu, with the threads of each step chosen if the policy is `adaptive`: the others stand for what
// others do, on all threads. `costs` has a node for each of the graph's and a cluster for each of the
// machine's; else an Error. Where the choice pins no threads, they are taken to run on the machine's cores,
// the fastest first.
Plan PlanCores(const Graph& graph, const Machine& machine, const CpuChoice& choice, const Costs& costs);

// By what the profile predicts; where that is nullptr, all threads at each step. Error where the choice does
// not fit the machine.
Plan PlanByProfile(const Graph& graph, const Machine& machine, const CpuChoice& choice,
                   const Profile* profile);

// The plan's first so many threads, which are on cores of their own. Those after them are other threads of
// the same cores and count nothing: what two threads of a core do together nobody has measured, and products,
// which take most of the time, keep its units busy with one. No step has them.
int CountedThreads(const Plan& plan, const Machine& machine);

// Of the first `threads` threads of a plan, how many are on each of the machine's clusters.
std::vector<int> CoresOf(const Plan& plan, const Machine& machine, int threads);

// What a run of the plan is predicted to take; 0 where nobody has predicted it.
double PredictedUs(const Plan& plan);

}  // namespace mete
