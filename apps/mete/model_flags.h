// The flags that every command with a model shares, and what is made from them: a Model, a Session, a report.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "context.h"
#include "mete/engine.h"

namespace mete::cli {

inline constexpr int kMostBatch = 1 << 16;  // guess: more than any machine's memory holds

struct ModelFlags {
  std::string model;
  std::vector<std::string> shapes;  // name=1x3x224x224, T=128, 1x3x224x224
  int64_t batch = 0;                // only run and bench have this flag
  std::string weights;
  std::vector<std::string> operators;  // libraries of operators
  std::vector<std::string> disabled_passes;
  bool no_optimize = false;
  bool onnxruntime_sums = false;
  std::string precision = "f32";
  double error_bound = LoadOptions().error_bound;
  std::vector<std::vector<Tensor>> samples;  // LoadOptions::samples, where the command has inputs
  bool reference = false;
  std::string tune = "after";  // a key of kTune in model_flags.cc
  int threads = 0;
  std::vector<int> cores;
  std::vector<double> speeds;  // the emulated speeds of --cores 0:1.0,1:0.4; empty if no core has one
  std::string policy;          // empty: the session's default
  std::string plan, save_plan;
  std::string objective;  // only run, bench and simulate have this flag: objective.h
  bool cache_weights = false;
  bool explain = false;
  bool profile = false;
  std::string trace;

  bool traced() const { return profile || !trace.empty(); }
};

void AddLoadFlags(CLI::App& command, ModelFlags& flags);       // the flags that LoadModel() reads
void AddPrecisionFlags(CLI::App& command, ModelFlags& flags);  // a part of AddLoadFlags
void AddCoresFlag(CLI::App& command, ModelFlags& flags);       // --cores, with speeds
// the flags that SessionOptionsOf() reads, without plans: threads, cores, policy, kernels
void AddSessionFlags(CLI::App& command, ModelFlags& flags);
void AddModelFlags(CLI::App& command, ModelFlags& flags);

// Parses "0" or "0:0.4", a core and the speed at which it is emulated, and adds both to `flags`.
void ParseCores(const std::vector<std::string>& words, ModelFlags& flags);
// UsageError if this machine does not have the cores, or if other flags contradict them.
void CheckCores(const ModelFlags& flags);

void AddJsonFlag(CLI::App& command, Context& context);

// SplitAssignment() splits "name=1x3x224x224"; ParseShape() parses "1,3,4" or "1x3x4". UsageError naming
// `flag` for other texts.
std::pair<std::string, std::string> SplitAssignment(const std::string& text, const char* flag);
Shape ParseShape(const std::string& text, const char* flag);

// LoadQuietly() loads the model, PrintNotes() prints the notes on what Load() assumed to stderr, and
// LoadModel() does both. `tensors`: as LoadOptions::tensor_shapes.
Model LoadQuietly(const ModelFlags& flags, const Context& context, double* load_ms = nullptr,
                  const std::map<std::string, Shape>& tensors = {});
void PrintNotes(const Model& model, const Context& context);
Model LoadModel(const ModelFlags& flags, const Context& context, double* load_ms = nullptr,
                const std::map<std::string, Shape>& tensors = {});

SessionOptions SessionOptionsOf(const ModelFlags& flags);

// Makes a session and prints its notes. The first function also writes --save-plan.
Session MakeSession(const Model& model, const ModelFlags& flags, const Context& context);
Session MakeSession(const Model& model, SessionOptions options, const std::string& label,
                    const Context& context);

// --profile and --trace: prints the profile or adds "profile" to `json`, and writes the trace.
void ReportTrace(const Trace& trace, const ModelFlags& flags, const Context& context, Json& json);

// --explain: settles the session, then prints the plan or adds "explain" to `json`. `run` makes one run and
// fills its trace.
void ReportPlan(Session& session, const ModelFlags& flags, const Context& context,
                const std::function<void(Trace*)>& run, Json& json);

// Measures what is left to measure, with the progress told. For commands whose answers are times.
void Settle(Session& session, const Context& context);

Json StepJson(const StepInfo& step);  // an element of "steps", which --explain adds
Json PortsJson(const std::vector<Port>& ports);

}  // namespace mete::cli
