// The planner for the cores of one CPU: it chooses how many cores take part in each step, down to one. It is
// a pure function of values, and its predictions are as accurate as the costs.
//
// The threads are sorted by speed, and a step has the first n of them. The predicted time of a step on one
// thread is the node's time. On several threads it is the makespan of whole blocks that are distributed
// optimally (makespan.h), including each thread's cost of taking blocks, plus the barrier. A thread that had
// no work for longer than it spins is asleep, and the step waits until it is awake. Because this depends on
// the steps before, all steps are decided together: of the paths that end with the same number of threads,
// the fastest is kept from step to step.
#pragma once

#include "costs/costs.h"
#include "costs/profile.h"
#include "graph/graph.h"
#include "machine/machine.h"
#include "plan/threads/thread_plan.h"

namespace mete {

// The share of a step's time that more threads must save. This value is a guess: it is far less than the
// error of the predictions, so that no known gain is lost, but more than 0, because each core takes energy,
// and a disturbed core delays the others.
inline constexpr double kLeastGain = 0.01;

// Returns the plan of PlanOneCpu(). With the policy `adaptive` the number of threads of each step is chosen;
// the other policies, which are those of other systems, use all threads. Error unless `costs` has all nodes
// of the graph and all clusters of the machine. If the choice pins no threads, they are assumed to run on the
// machine's cores, the fastest first.
ThreadPlan PlanCores(const Graph& graph, const Machine& machine, const CpuChoice& choice, const Costs& costs);

// Plans with the costs that the profile predicts; if `profile` is nullptr, each step has all threads. Error
// if the choice does not fit the machine.
ThreadPlan PlanByProfile(const Graph& graph, const Machine& machine, const CpuChoice& choice,
                         const Profile* profile);

// Returns how many of the plan's first threads are on separate physical cores. The threads after them are
// second threads of the same cores, and no step uses them: the speed of two threads on one core is not
// measured, and products, which take most of the time, keep a core's units busy with one thread.
int CountedThreads(const ThreadPlan& plan, const Machine& machine);

// Returns how many of the first `threads` threads of a plan are on each cluster of the machine.
std::vector<int> CoresOf(const ThreadPlan& plan, const Machine& machine, int threads);

}  // namespace mete
