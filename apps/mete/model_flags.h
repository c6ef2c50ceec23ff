// The flags that every command with a model shares, and what they lead to: a Model, a Session, a report.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "context.h"
#include "mete/engine.h"

namespace mete::cli {

inline constexpr int kMostBatch = 1 << 16;  // guess: more than any memory takes

struct ModelFlags {
  std::string model;
  std::vector<std::string> shapes;  // name=1x3x224x224, T=128, 1x3x224x224
  int64_t batch = 0;                // of run and bench
  std::string weights;
  std::vector<std::string> disabled_passes;
  bool no_optimize = false;
  bool reference = false;
  bool no_tune = false;
  int threads = 0;
  std::vector<int> cores;
  std::vector<double> speeds;  // of --cores 0:1.0,1:0.4, emulated; empty where none is given
  std::string policy;          // empty: the session's default
  std::string plan, save_plan;
  std::string objective;  // of run, bench and simulate: objective.h
  bool cache_weights = false;
  bool explain = false;
  bool profile = false;
  std::string trace;

  bool traced() const { return profile || !trace.empty(); }
};

void AddLoadFlags(CLI::App& command, ModelFlags& flags);  // what LoadModel() reads
void AddCoresFlag(CLI::App& command, ModelFlags& flags);  // --cores, with speeds
// what SessionOptionsOf() reads but for plans: threads, cores, policy, kernels
void AddSessionFlags(CLI::App& command, ModelFlags& flags);
void AddModelFlags(CLI::App& command, ModelFlags& flags);

// "0" or "0:0.4", a core and the speed at which it is emulated, into the flags' cores and speeds.
void ParseCores(const std::vector<std::string>& words, ModelFlags& flags);
// UsageError where the cores are not this machine's, or do not go with other flags.
void CheckCores(const ModelFlags& flags);

void AddJsonFlag(CLI::App& command, Context& context);

// "name=1x3x224x224" to its parts; "a,b,c" and "1x2x3" to numbers. UsageError naming `flag` otherwise.
std::pair<std::string, std::string> SplitAssignment(const std::string& text, const char* flag);
Shape ParseShape(const std::string& text, const char* flag);

// Prints the notes of Load() to stderr. `tensors`: as LoadOptions::tensor_shapes.
// LoadQuietly() loads the model, PrintNotes() prints what Load() assumed, and LoadModel() does both.
Model LoadQuietly(const ModelFlags& flags, const Context& context, double* load_ms = nullptr,
                  const std::map<std::string, Shape>& tensors = {});
void PrintNotes(const Model& model, const Context& context);
Model LoadModel(const ModelFlags& flags, const Context& context, double* load_ms = nullptr,
                const std::map<std::string, Shape>& tensors = {});

SessionOptions SessionOptionsOf(const ModelFlags& flags);

// Prints its notes; writes --save-plan.
Session MakeSession(const Model& model, const ModelFlags& flags, const Context& context);
Session MakeSession(const Model& model, SessionOptions options, const std::string& label,
                    const Context& context);

// --profile and --trace: prints, writes, and adds "profile" to `json`.
void ReportTrace(const Trace& trace, const ModelFlags& flags, const Context& context, Json& json);

// --explain: prints, or adds "explain" to `json`. `run` makes one run and fills its trace.
void ReportPlan(const Session& session, const ModelFlags& flags, const Context& context,
                const std::function<void(Trace*)>& run, Json& json);

Json PortsJson(const std::vector<Port>& ports);

}  // namespace mete::cli
