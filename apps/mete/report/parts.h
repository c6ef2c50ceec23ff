// The parts of `mete report`: its flags, and the report of each kind of thing that it can show.
#pragma once

#include <string>
#include <vector>

#include "context.h"
#include "model_flags.h"
#include "pool.h"
#include "report/document.h"

namespace mete::cli {

struct ReportFlags {
  ModelFlags model;  // its `model` is a file that a command has written, if that ends in .json
  PoolFlags pool;
  std::string machine;              // with --processors: the file of a board that is not here
  std::vector<std::string> inputs;  // as words of --input; other inputs are random numbers
  uint64_t seed = 1;
  int runs = 0;
  std::string output;
  std::vector<std::string> given;  // names of the options, without --output and --json
};

// Runs the model on this machine's CPU, `runs` times, and shows the run of median length.
Report ReportOfSession(const ReportFlags& flags, const Context& context);

// Plans the model for several processors, and runs it there if they are here.
Report ReportOfPool(const ReportFlags& flags, const Context& context);

// Shows what a command has written: a trace, a plan, or the JSON of bench, run, inspect or simulate. Error
// INVALID_ARGUMENT for other files.
Report ReportOfFile(const std::string& path);

// Fills the report's `nodes` with the steps, and with what the plan of the same session says of them: its
// reason and what it has rejected. `plan` is the JSON of a plan for one processor, or null.
void AddNodes(const Json& steps, const Json& plan, Report& report);

// Adds the sentences that follow from the nodes: which operator and which node take most of the time.
void SayNodes(Report& report);

// Adds the prediction of the whole run beside the time of the shown one, if the plan predicts each node that
// computes.
void CompareNodes(Report& report);

}  // namespace mete::cli
