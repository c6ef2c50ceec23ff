// A model over several processors: what commands do with --processors. Workers are reached over the network:
// NetworkOfProgram() is implemented in network/, and in a build with METE_NETWORK=OFF in without_network/.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "mete/pool.h"
#include "model_flags.h"

namespace mete::cli {

struct PoolFlags {
  std::string processors;  // a list or a file; empty: this device alone, without all of this
  std::string transfer = "f32";
  std::string planner = "dynamic";
  double deadline_ms = 0;
  int lanes = 1;
  bool keep_plan = false;
  bool exact = false;               // bytes of GPUs are those of a CPU's kernels
  std::vector<std::string> beside;  // of bench: planners to compare with

  bool given() const { return !processors.empty(); }
};

// Adds the flags to run or bench, which have those of a model already. Returns --processors.
CLI::Option* AddPoolFlags(CLI::App& command, PoolFlags& flags);

// Adds --exact to a command that has --processors.
void AddExactFlag(CLI::App& command, bool& exact);

// Returns the pool that --processors names: a list of this device's processors, or a file. UsageError for a
// list that is none; Error for a file.
Pool PoolFor(const std::string& processors);

Pool PoolOf(const PoolFlags& flags);  // the same, with --exact

// The same for plan and simulate, where a file may also be an installed one, by its name (FindBoard()). With
// a machine file (--machine) `processors` is a list of that board's processors: "cpu,gpu".
Pool NamedPool(const std::string& processors, const std::string& machine);

// Returns the options that the flags of a model have for a pool: its kernels, notes and cancellation.
PoolOptions PoolOptionsOf(const ModelFlags& flags, const Context& context);

// Returns a session of a model on a pool, and writes --save-plan. UsageError if the model has workers and was
// not measured on them.
Session MakePoolSession(const Model& model, const ModelFlags& model_flags, const PoolFlags& flags,
                        const Context& context);

// UsageError if the model was not measured on the pool.
void CheckMeasured(const Pool& pool, const Model& model, const PoolOptions& options);

// Measures a model on a pool of this device where nobody has, by a session that settles and ends. Returns
// whether it had to. UsageError as that of MakePoolSession().
bool MeasureOnce(const Model& model, const ModelFlags& model_flags, const PoolFlags& flags,
                 const Context& context);

// Returns the files with what was measured of a model on a pool; empty: nothing was.
std::vector<std::string> CostFilesOf(const Model& model, const ModelFlags& model_flags,
                                     const PoolFlags& flags, const Context& context);

// What times on a pool belong to, for the name under which they are kept: the words of the flags, and the
// file that --processors names, if it is one.
std::vector<std::string> TimedWords(const PoolFlags& flags);
std::vector<std::string> FilesOf(const PoolFlags& flags);

// Waits until the first plan is in use, or cannot be (Session::Settle).
void SettlePool(Session& session, const Context& context);

// Returns what the home alone computes.
std::vector<Tensor> RunAtHome(Session& session, const std::vector<Tensor>& inputs);

// mete bench and mete profile with --processors.
void BenchPool(const ModelFlags& model_flags, const PoolFlags& flags, const std::vector<std::string>& inputs,
               uint64_t seed, int runs, double seconds, const Context& context);
void ProfileOnPool(const std::vector<std::string>& models, const Pool& pool, const ModelFlags& session,
                   const Context& context);

// bench --beside: runs the plan of a session in turns with other plans.
void ComparePlans(const Session& session, const PoolFigures& figures, const std::vector<Tensor>& inputs,
                  const std::string& model, const std::vector<std::string>& planners, int rounds,
                  const Context& context);

// Returns the way to workers; null if this program was built without the network.
std::shared_ptr<const Network> NetworkOfProgram();

}  // namespace mete::cli
