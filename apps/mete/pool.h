// A model over several processors: what commands do with --processors. Local processors are opened in
// pool.cc. Workers are reached over the network: OpenWorkers() is implemented in network/, and in a build
// with METE_NETWORK=OFF in without_network/, where it throws UNIMPLEMENTED.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "costs/pool.h"
#include "machine/pool_file.h"
#include "model_flags.h"
#include "plan/plan.h"
#include "profile/pool/pool_profile.h"
#include "run/pool_session.h"

namespace mete::cli {

struct PoolFlags {
  std::string processors;  // a list or a file; empty: this device alone, without all of this
  std::string transfer = "f32";
  std::string planner = "dynamic";
  double deadline_ms = 0;
  int lanes = 1;
  bool keep_plan = false;
  std::vector<std::string> beside;  // of bench: planners to compare with

  bool given() const { return !processors.empty(); }
};

// Of run and bench, which have those of a model already. Returns --processors.
CLI::Option* AddPoolFlags(CLI::App& command, PoolFlags& flags);

// What --processors says: a list of this device's processors, or a file.
PoolFile PoolFor(const std::string& processors);

// The flags for a model that will be divided: without the passes that each share runs by itself.
ModelFlags Divisible(ModelFlags flags);
Model LoadDivisible(const ModelFlags& flags, const Context& context, double* load_ms = nullptr,
                    const std::map<std::string, Shape>& tensors = {});

// The costs of a model on the processors of a file: measured, where the file says how they are reached, or
// estimated, where it describes them.
struct PoolOfFile {
  std::string name, note;  // the file's name, and where the costs come from
  std::string estimates;   // what of them are estimates; empty: nothing
  PoolCosts costs;
};
PoolOfFile PoolCostsOf(const Graph& graph, const std::string& path, const Context& context);

// The pool without those processors of this device that cannot compute a node of the model; a note says which
// and why, where `context` is given. Error UNIMPLEMENTED where the home cannot.
PoolFile ThoseThatCan(PoolFile file, const Graph& graph, const Context* context);

// The largest difference of two answers beside the largest value; infinite where they are not comparable.
double LargestDifference(const std::vector<Tensor>& a, const std::vector<Tensor>& b);
std::string PlanText(const Plan& plan);  // "layers 1 to 9 on laptop+pi, layers 10 to 21 on laptop"

// A pool whose processors can be used: the home, and the others as its members; the first member, the home's,
// is null.
struct OpenPool {
  std::shared_ptr<Processor> home;
  std::vector<std::unique_ptr<Member>> members;
};
// Error where this device has not the cores that the file names.
OpenPool Open(const PoolFile& file, const ModelFlags& flags, const Context& context);

std::vector<Member*> PointersTo(const std::vector<std::unique_ptr<Member>>& members);

// What `mete profile MODEL --processors FILE` keeps; UsageError that says so where there is none that serves.
PoolProfile StoredPoolProfile(const Graph& graph, const PoolFile& file);
std::string StorePoolProfile(const PoolProfile& profile, const PoolFile& file);  // the path

// The costs that were measured, with the file's watts. UsageError if there is no such profile.
PoolCosts MeasuredCosts(const Graph& graph, const PoolFile& file);

// A session of a model on a pool. Where nobody has measured the model, processors of this device are measured
// first; UsageError where workers would have to be.
std::unique_ptr<PoolSession> MakePoolSession(const Model& model, const ModelFlags& model_flags,
                                             const PoolFlags& flags, const Context& context);

// mete bench and mete profile with --processors.
void BenchPool(const ModelFlags& model_flags, const PoolFlags& flags, std::vector<std::string> inputs,
               uint64_t seed, int runs, double seconds, const Context& context);
void ProfileOnPool(const std::vector<std::string>& models, const std::string& processors,
                   const ModelFlags& session, const Context& context);

// --- over the network

// The workers that the file names, in its order.
std::vector<std::unique_ptr<Member>> OpenWorkers(const PoolFile& file, const Context& context);
// Error UNIMPLEMENTED where this program cannot reach workers at all.
void CheckReachesWorkers();

}  // namespace mete::cli
