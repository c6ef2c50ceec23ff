// A model over several devices: what commands do with --devices FILE. The functions that need the network are
// implemented in network/. A build with METE_NETWORK=OFF has without_network/ instead, whose functions throw
// UNIMPLEMENTED.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "costs/pool.h"
#include "machine/hosts_file.h"
#include "model_flags.h"
#include "plan/devices/devices_plan.h"

namespace mete::cli {

struct HostsFlags {
  std::string file;  // empty: this device alone, without all of this
  std::string transfer = "f32";
  std::string planner = "dynamic";
  double deadline_ms = 0;
  int lanes = 1;
  bool keep_plan = false;
  std::vector<std::string> beside;  // of bench: planners to compare with

  bool given() const { return !file.empty(); }
};

// Of run and bench, which have those of a model already; --devices.
CLI::Option* AddHostsFlags(CLI::App& command, HostsFlags& flags);

// The flags for a model that will be divided: without the passes that each share runs by itself.
ModelFlags Divisible(ModelFlags flags);
Model LoadDivisible(const ModelFlags& flags, const Context& context, double* load_ms = nullptr,
                    const std::map<std::string, Shape>& tensors = {});

// The costs of a model on the devices of a file: measured, where the file says how they are reached, or
// estimated, where it describes them.
struct PoolOfFile {
  std::string name, note;  // the file's name, and where the costs come from
  std::string estimates;   // what of them are estimates; empty: nothing
  PoolCosts costs;
};
PoolOfFile PoolCostsOf(const Graph& graph, const std::string& path);

// The largest difference of two answers beside the largest value; infinite where they are not comparable.
double LargestDifference(const std::vector<Tensor>& a, const std::vector<Tensor>& b);
std::string PlanText(const DevicesPlan& plan);  // "layers 1 to 9 on laptop+pi, layers 10 to 21 on laptop"

// --- over the network

// The costs that `mete profile MODEL --devices FILE` has measured, with the file's watts. UsageError if there
// is no such profile.
PoolCosts MeasuredCosts(const Graph& graph, const HostsFile& file);

// A session of a model on the devices of a file.
class SessionOverDevices {
 public:
  virtual ~SessionOverDevices() = default;
  virtual std::vector<Tensor> Run(const std::vector<Tensor>& inputs) = 0;
  virtual Session& alone() = 0;          // a session of the whole model on this device
  virtual DevicesPlan plan() const = 0;  // as it is just now
};
std::unique_ptr<SessionOverDevices> MakeSessionOverDevices(const Model& model, const ModelFlags& model_flags,
                                                           const HostsFlags& flags, const Context& context);

// mete bench and mete profile with --devices.
void BenchHosts(const ModelFlags& model_flags, const HostsFlags& flags, std::vector<std::string> inputs,
                uint64_t seed, int runs, double seconds, const Context& context);
void ProfileHosts(const std::vector<std::string>& models, const std::string& file, const ModelFlags& session,
                  const Context& context);

}  // namespace mete::cli
