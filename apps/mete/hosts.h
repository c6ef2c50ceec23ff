// --devices FILE of commands that run something: a model on devices that are there.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "caller/devices_session.h"
#include "context.h"
#include "machine/hosts_file.h"
#include "model_flags.h"
#include "profile/devices/pool_profile.h"

namespace mete::cli {

struct HostsFlags {
  std::string file;               // empty: this device alone, without all of this
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

// What proves who we are, and whom we believe; empty paths: nothing. Prints notes.
Security ReadSecurity(const std::string& keys_folder, const std::string& token_file, const Context& context);

// The devices of a file, with what proves who we are; the first is null.
std::vector<std::unique_ptr<RemoteDevice>> OpenHosts(const HostsFile& file, const Context& context);
std::vector<std::string> NamesOf(const HostsFile& file);

// What a worker of a file says of itself.
struct HostState {
  HostEntry host;
  RemoteHello hello;
  double round_trip_ms = 0;  // the least of some
  std::string state;         // in two words or so
  std::string why_not;       // it is not there; empty: it is, or is this device
};
// Asks all of them at a time.
std::vector<HostState> AskHosts(const HostsFile& file, std::chrono::milliseconds timeout, const Context& context);

// The model as it is divided: before the passes that each share has by itself.
Model LoadDivisible(ModelFlags flags, const Context& context, double* load_ms = nullptr, const std::map<std::string, Shape>& tensors = {});

// What `mete profile MODEL --devices FILE` keeps; UsageError that says so where there is none that serves.
PoolProfile StoredPoolProfile(const Graph& graph, const HostsFile& file);
std::string StorePoolProfile(const PoolProfile& profile, const HostsFile& file);  // the path

// The costs of a model on the devices of a file: measured, where the file says how they are reached, or estimated, where it describes them.
struct PoolOfFile {
  std::string name, note;   // the file's name, and where the costs come from
  std::string estimates;    // what of them are estimates; empty: nothing
  PoolCosts costs;
};
PoolOfFile PoolCostsOf(const Graph& graph, const std::string& path);

std::unique_ptr<DevicesSession> MakeDevicesSession(const Model& model, const ModelFlags& model_flags, const HostsFlags& flags,
                                                   const Context& context);

// The largest difference of two answers beside the largest value; infinite where they are not comparable.
double LargestDifference(const std::vector<Tensor>& a, const std::vector<Tensor>& b);
std::string PlanText(const DevicesPlan& plan);  // "layers 1 to 9 on laptop+pi, layers 10 to 21 on laptop"

// mete bench and mete profile with --devices.
void BenchHosts(const ModelFlags& model_flags, const HostsFlags& flags, std::vector<std::string> inputs, uint64_t seed, int runs,
                double seconds, const Context& context);
void ProfileHosts(const std::vector<std::string>& models, const std::string& file, const ModelFlags& session, const Context& context);

}  // namespace mete::cli
