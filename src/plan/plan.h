// The plan of a model on a pool of processors, as a value: groups of fused layers, each placed on one
// processor or divided over several, and inside of a CPU's share the threads of each step. It is printed,
// stored as JSON, and verified against the graph that it is for. A session on one CPU has a plan of one group
// with one share.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/table.h"
#include "graph/graph.h"
#include "partition/layers.h"
#include "partition/share.h"
#include "plan/placement.h"
#include "plan/threads/thread_plan.h"

namespace mete {

// What one processor computes of a group.
struct Share {
  int processor = 0;              // index into Plan::processors
  std::vector<ValuePart> inputs;  // the parts that the processor needs; parts that it lacks are sent to it
  // the parts that the processor has after the group: it computes them, or, if they are older, keeps or gets
  // them
  std::vector<ValuePart> outputs;
  int64_t bytes = 0;      // bytes that are sent to the processor
  double ready_us = 0;    // predicted time until the processor has its inputs
  double compute_us = 0;  // predicted time of computing
  // Threads of the steps of the share's graph, for a CPU of this process. Planners of a pool leave them to
  // the processor, which chooses them when it prepares the share; the plan of a session has them. A plan that
  // is given to a session decides them.
  std::optional<ThreadPlan> threads = {};
};

struct PlannedGroup {
  int first = 0, last = 0;  // layers [first, last); no layer if values only move
  Placement placement;      // placement of the values that are live after the group
  std::vector<Share> shares;
  double us = 0;  // predicted time until the last processor is done
};

struct Plan {
  std::string model, planner;
  std::vector<std::string> processors;  // the first is the home: it has the inputs and gets the outputs
  std::vector<std::string> layers;
  std::vector<PlannedGroup> groups;  // the groups cover each layer once, in order
  double gather_us = 0;              // from the end of the last group until the home has the outputs
  double predicted_us = 0;           // predicted time of a request; 0: not predicted
  // predicted time from one request to the next if requests follow each other without a pause (objective.h)
  double period_us = 0;
  double joules = 0;  // predicted energy of a request; 0 without power figures
};

// Returns the processors that have a share in some group.
std::set<int> UsedProcessors(const Plan& plan);

// Fills in the names in the plan: model, planner, processors and layers.
void NamePlan(Plan& plan, const Graph& graph, const std::vector<std::string>& processors,
              const std::string& planner);

// Returns the shares of a group, without predictions: a placement determines the parts of each processor.
// `live` is the result of LiveValues(). A placement on one processor has a share there in any case, even if
// no value is live behind the group because all outputs are constants.
std::vector<Share> SharesOf(const Graph& graph, const std::vector<Layer>& layers,
                            const std::vector<std::vector<ValueId>>& live, int first, int last,
                            const Placement& placement);

// Returns the plan in which one of the processors computes all layers in one group, without predictions.
Plan PlanOnOne(const Graph& graph, const std::vector<std::string>& processors, int processor);
// Returns the plan of a model on the only processor, with the threads of its steps and their predicted time.
Plan PlanOnOne(const Graph& graph, const std::string& processor, ThreadPlan threads);

// Throws one Error that lists everything that does not fit: processors without a name or named twice, layers
// of another model, groups that do not follow each other, placements that are none, shares that are not those
// of their group's placement, times that are no times. The threads of shares are verified when a CPU prepares
// the share, because only then the share's graph is there.
void Verify(const Plan& plan, const Graph& graph);

// Replaces the shares of all groups by those of their placements, without predictions. Throws as Verify().
void DeriveShares(Plan& plan, const Graph& graph);

// Throws an Error unless the plan is for exactly these processors, in this order.
void CheckProcessors(const Plan& plan, const std::vector<std::string>& processors);

// Throws an Error if a group has parts on two processors that are the same hardware, of which one computes at
// a time. `units` has the hardware of each processor; "": its own.
void CheckUnits(const Plan& plan, const std::vector<std::string>& units);

// Returns the plan as text: the summary, the table of shares, and the threads of steps where shares have
// them; of several processors only those of shares with more than one thread. The other four functions return
// parts of it.
std::string ToText(const Plan& plan, const Graph& graph);
std::string Summary(const Plan& plan);  // "layers 1 to 9 on laptop+pi, layers 10 to 21 on laptop"
Rows SharesTable(const Plan& plan, const Graph& graph);               // a row for each share
inline constexpr const char* kSharesAlign = "lllllrr";                // of its columns, for FormatTable()
std::string LayersText(const Plan& plan, const PlannedGroup& group);  // "conv1 to pool5, 12 layers"
// "rows 0 to 20 of 56" of the first value that is divided; "branches: 3 of 4 values", each of them whole.
std::string PartText(const Graph& graph, const Share& share, const Placement& placement);

std::string ToJson(const Plan& plan, const Graph& graph);
// Returns a plan that Verify() accepts; Error with the place where the text is not a plan, or not one of
// `graph`. The shares' parts follow from the placements; the text repeats them for readers, and they must be
// the same.
Plan PlanFromJson(const std::string& json, const Graph& graph);

}  // namespace mete
