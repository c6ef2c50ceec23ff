// Several processors that compute a model together.
//
//   #include "mete/pool.h"
//
//   mete::Model model = mete::Model::Load("net.onnx");
//   mete::Pool pool = mete::Pool::FromList("cpu:0,cpu:1");
//   mete::Session session(model, pool);
//   mete::Tensor input(mete::DType::kF32, model.inputs()[0].shape);
//   std::vector<mete::Tensor> out = session.Run({input});
//
// The session plans which processor computes which part of which layers, from the times of the model's layers
// on each processor and of the links between them. These times are measured once for each model and pool, and
// kept in CacheFolder() (mete/device.h). If they are missing, and all processors are of this device, the
// session's constructor measures them; workers on the network have to be measured by Pool::Measure() before.
//
// A pool may be one CPU, "cpu". Its cores can compute as one pool of threads, which share every layer, or as
// several processors, which exchange less: one for each cluster of the CPU, or two halves of its cores. A
// session for latency with the planner dynamic measures both ways, runs both in turns and keeps the faster
// one; it is not tried with PoolOptions::keep_plan, a `plan_json` or several lanes. A plan for either way is
// accepted.
//
// A processor that builds kernels for seconds, such as a GPU, delays no answer: the home computes alone until
// the processor is measured, if that is needed, and the first plan is ready. Session::settled() then becomes
// true, and Session::Settle() waits for it. Every other session on a pool has settled from the start. What a
// processor of this device lacks, such as an operator, others compute; the home must compute all.
//
// The plan is for the shapes for which the model was loaded. A run with other shapes that the model's file
// allows is computed by the home alone, as a session on one CPU does (mete/engine.h): the first such run
// makes the model ready for it, and a note says so. It is refused if the home is no CPU of this process.
//
// All functions throw mete::Error. A pool that contradicts itself is refused when it is made, one with cores
// that this process may not use when a session or a measurement opens it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mete/engine.h"

namespace [[gnu::visibility("default")]] mete {

class Network;  // mete/network.h: reaches workers

// A processor of a pool. A worker whose entry in the file names no processors is one of these, and all
// processors that it offers when it is measured have a place in plans.
struct PoolProcessor {
  std::string name;        // within the pool: "cpu:0", "pi-1", "pi-1/cpu:4-5"
  std::string device;      // the device that has it
  std::string address;     // HOST:PORT of the device's worker; empty: a processor of this process
  std::vector<int> cores;  // CPU numbers; empty: all that this process may use, or unknown (a worker's)
  double speed = 1;        // emulated speed, 0.01 to 1
  std::string kind;        // as a pool file names it: "cpu", "emulated", ...; empty: a worker's, unknown
};

// Some cores of this device, as Pool::FromProcessors() takes them.
struct CpuCores {
  std::string name;
  std::vector<int> cores;  // empty: all that this process may use
  double speed = 1;        // emulated speed, 0.01 to 1
};

// What is planned, and how a session runs it.
struct PoolOptions {
  // The figure that the plan has least of: "latency", the time of a request; "throughput", the time from one
  // request to the next; "energy", the joules of a request, for which the pool's file must have watts. Empty:
  // latency, or throughput if `lanes` is more than 1.
  std::string objective = {};
  std::string planner = "dynamic";  // or a planner for comparisons, of PoolPlanners()
  // A plan from Session::PlanJson() or PoolPlan::json for exactly these processors, or for the cores of a
  // pool that is one CPU as several processors. It replaces the planner's. It is used as it is, as with
  // `keep_plan`. If a processor is lost, the planner plans for the others, until the processor is back.
  std::string plan_json = {};
  // The plan is used as it is: without a trial beside the best single processors before its use, and without
  // another plan later if processors are faster or slower than predicted.
  bool keep_plan = false;
  int lanes = 1;  // requests that may be under way at a time, kMostLanes at most
  // Milliseconds of a request: processors that are late are given up in time to compute the request on the
  // home. 0: four times the usual time of a request, and 250 ms.
  double deadline_ms = 0;
  // The type of floats on their way between processors: "f32", or with errors "f16" or "u8".
  std::string transfer = "f32";
  // The kernels of the processors of this process. `threads`, `cores` and `speeds` count only for a processor
  // without cores of its own; `plan_json` and `progress` do not count.
  SessionOptions kernels = {};
  // Plan() alone: the names of kernels, PoolPlan::Share::kernels, are filled in. It takes as long as dividing
  // the model and running the passes over each share.
  bool kernel_names = false;
  // Stops measuring and the making of a session, which then throw CANCELLED; a plan that is being made is
  // finished first. It must outlive them.
  const CancelToken* cancel = nullptr;
  // Gets what is being done, and how much of it is done: "measuring cpu:1", 3, 10. Any thread calls it, one
  // at a time, also during the life of a session when the plan changes.
  std::function<void(const std::string& what, int64_t done, int64_t all)> progress = {};
  // Gets what the caller should know, in a line: a processor is left out, lost or there again, another plan.
  // Any thread calls it, one at a time. The function may use the session but must not destroy it.
  std::function<void(const std::string&)> note = {};
};

// The most requests that a plan has under way at a time. This value is a guess: only a pipeline over more
// processors would need more.
inline constexpr int kMostLanes = 16;

// The names of all planners: "dynamic" is Mete's own, the others are for comparisons.
const std::vector<std::string>& PoolPlanners();
const std::vector<std::string>& PoolObjectives();  // latency, throughput, energy
// Returns true if the planner minimizes this objective. The planners for comparisons minimize latency only.
bool PlansFor(const std::string& planner, const std::string& objective);

// The times of a message of `bytes` whose answer has one byte, and of one the other way round; medians.
struct LinkMessage {
  int64_t bytes = 0;
  double up_us = 0, down_us = 0;            // to the processor, from the processor
  double busy_up_us = 0, busy_down_us = 0;  // while both ends compute
};

// The link from the home to a processor.
struct LinkFigures {
  std::string processor;
  double round_trip_us = 0;  // of a message of one byte and its answer
  double message_us = 0;     // of each of many messages that follow each other
  double up_mbit_per_s = 0, down_mbit_per_s = 0;
  double busy_up_mbit_per_s = 0, busy_down_mbit_per_s = 0;  // while both ends compute
  std::vector<LinkMessage> sizes;                           // the rates follow from these
};

// The figures of a model on a pool, as measured.
struct PoolFigures {
  std::string path;                     // the file with the figures; empty for figures of links alone
  double seconds = 0;                   // duration of the measurement
  double prepare_seconds = 0;           // the part of it in which graphs were made ready
  std::vector<std::string> processors;  // the measured ones, the home first
  std::vector<LinkFigures> links;       // of each processor but the home
  // for each processor, the sum of all layers that it can compute; empty for links alone
  std::vector<double> layers_us;
  // for each processor, how many times as long its layers take while others of its memory compute; 1: no
  // longer, or contained in `layers_us`; empty for links alone
  std::vector<double> slowed;
  std::string json;  // all figures, for programs
  // What Measure() has measured of one CPU's cores as several processors; at most one element.
  std::vector<PoolFigures> as_several = {};
};

// A plan, with the alternatives that were weighed. Times are predictions.
struct PoolPlan {
  struct Kernel {
    std::string name;  // with the type that it reads: "conv_f32", "pool_f16", "reference"
    int times = 0;     // for how many nodes; on a GPU, in how many launches
  };
  struct Share {
    int processor = 0;    // an index into `processors`
    std::string part;     // "all", "rows 0 to 20 of 56", "branches: 3 of 4 values"
    int64_t bytes = 0;    // sent to the processor before the group
    double ready_us = 0;  // until the processor has its inputs
    double compute_us = 0;
    // with PoolOptions::kernel_names: the kernels by estimate, in the order of their first use. None of a
    // worker's share, for which the worker chooses them, and of one with a node that no kernel computes,
    // which only a plan for boards that are not here may have
    std::vector<Kernel> kernels = {};
  };
  // Another way for one group, while all others stay as they are.
  struct Instead {
    std::string how;  // "whole on gpu", "by channels"
    double us = 0;    // of a request
  };
  // Consecutive layers that are computed between two exchanges of data.
  struct Group {
    std::string layers;  // "conv1 to pool5, 12 layers"
    std::vector<Share> shares;
    double us = 0;                 // of the slowest share, with what it waits for its inputs
    std::vector<Instead> instead;  // of plans for latency, the best one first
  };
  struct Transfer {
    int before_group = 0;  // an index into `groups`; the number of groups stands for the outputs, to the home
    int from = 0, to = 0;
    int64_t bytes = 0;
    double us = 0;  // the time if nothing else used the links of both processors
  };
  struct Processor {
    std::string name;
    bool is_used = false;
    double compute_us = 0, up_us = 0, down_us = 0;  // of a request: of computing, sending and receiving
    int64_t sent_bytes = 0, received_bytes = 0;
    double alone_us = 0;           // of a request if this processor computes the whole model
    double alone_compute_us = 0;   // the part of it that it computes
    double alone_figure = 0;       // of the objective: microseconds, or joules
    double there_and_back_us = 0;  // of the least message to it, and its answer
    double share_us = 0;           // of each share beside its layers, such as a launch; in `compute_us`
    double slowed = 1;  // how many times as long its shares take while others of its memory compute
    // why it cannot compute some layers, a line for each reason: "cannot compute layer 'boxes' and 3 more: no
    // kernel for operator NonMaxSuppression". Times of all layers alone are infinite then
    std::vector<std::string> lacks;
    int alike = 0;  // the first processor with the same costs: itself, or an earlier one
    // the time of a request by the best plan in which it has a part, infinite if none was weighed; nothing if
    // it is used, or if the objective is not latency
    std::optional<double> with_it_us;
  };
  struct LeftOut {
    int processor = 0;
    // the time of the best plan in which it and others like it have a part; infinite if none was weighed
    double us = 0;
  };

  std::string pool, objective;
  std::string note;  // where the times come from
  std::vector<Group> groups;
  std::vector<Processor> processors;       // the home first
  std::vector<Transfer> transfers;         // in the order of the groups
  std::vector<LeftOut> left_out;           // of plans for latency
  int best_alone = 0;                      // the best single processor
  double predicted_us = 0, gather_us = 0;  // of a request; the part until the home has the outputs
  double period_us = 0;                    // from one request to the next
  double joules = 0;                       // of a request; 0: the pool has no watts
  double figure = 0;                       // of the objective: microseconds, or joules
  double simulated_us = 0;                 // of a request, where no processor waits for all others
  std::string summary;                     // "layers 1 to 9 on laptop+pi, layers 10 to 21 on laptop"
  // A row for each share; the first row names the columns.
  std::vector<std::vector<std::string>> table;
  std::string text;  // the summary and the table
  std::string json;  // for PoolOptions::plan_json
};

// A site's devices and their processors, of which the first one is the home: the calling threads compute on
// it, and it has the inputs and gets the outputs. A pool is a description; each session uses its processors
// with threads of its own. Copies share one pool. Several threads may use it at once.
class Pool {
 public:
  // Makes a pool of some cores of this device: "cpu:0,cpu:1", "cpu:0-3,cpu:4-5", or one processor: "cpu" has
  // all cores that this process may use, "cpu:0-3" four.
  static Pool FromList(const std::string& list);
  static bool IsList(const std::string& text);  // whether a text is meant as a list, not as a file's name
  static Pool FromProcessors(const std::vector<CpuCores>& processors);
  // Reads a pool's description from a TOML file (docs/how-to). Workers in it need `network`, from
  // OpenNetwork() (mete/network.h); Error UNIMPLEMENTED without one. A file may also describe boards that are
  // not here, by their machine files: such a pool can plan, but not run.
  static Pool FromFile(const std::string& path, std::shared_ptr<const Network> network = nullptr);

  // Makes a pool of the processors of one board that is not here, described by a machine file
  // (boards/*.toml): "cpu", "cpu,gpu", or "cpu,gpu:f16" for products of halves on its GPU; with
  // "cpu,gpu,gpu:f16" each group has the type that is sooner. Such a pool can plan, but not run.
  static Pool FromMachine(const std::string& path, const std::string& list);

  // Returns the same pool, in which GPUs of f16 compute 8-bit networks as those of f32 do, if `exact`: their
  // bytes are those of a CPU's kernels. Without it a byte of a long sum, or behind values between bytes that
  // are f16, may be the next one. GPUs of workers are as the worker says. Such a pool has times of its own.
  Pool WithExactBytes(bool exact = true) const;

  const std::string& name() const;
  const std::vector<PoolProcessor>& processors() const;
  bool is_here() const;  // false: it describes boards that are not here

  // Measures what the model's layers take on each processor, and the links between them, and keeps both in
  // CacheFolder(). The time is a few times that of preparing and running the model. A pool that is one CPU is
  // measured in both ways. Error UNAVAILABLE if a processor does not answer.
  PoolFigures Measure(const Model& model, const PoolOptions& options = {}) const;
  PoolFigures MeasureLinks(const PoolOptions& options = {}) const;  // the links alone; nothing is kept
  // Returns what Measure() has kept for this model; nothing if it has not been called, or not since the
  // model, the pool, this device's CPU, the version of Mete or `kernels` of the options changed.
  std::optional<PoolFigures> Measured(const Model& model, const PoolOptions& options = {}) const;

  // Plans without running anything. Only `objective`, `planner`, `kernels`, `kernel_names` and `note` of the
  // options count; planners that measure plans get simulated times. For a pool that is one CPU, a plan for
  // latency is of its cores as one pool of threads, or of them as several processors if that was measured and
  // is predicted to be faster. Error FAILED_PRECONDITION if the model was not measured.
  PoolPlan Plan(const Model& model, const PoolOptions& options = {}) const;

  Pool() = default;  // empty, to be assigned to

 private:
  friend struct PoolInternals;  // access for the library's own code
  struct Impl;
  explicit Pool(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

// How one request was computed (RunOptions::report).
struct RunReport {
  double us = 0;
  bool alone = true;     // by the home alone, planned or not
  bool retried = false;  // a processor failed, and the home computed the request again
  // The computing time of each processor of the plan, and its name; empty if the home computed alone.
  std::vector<double> compute_us;
  std::vector<std::string> processors = {};
};

struct PoolStats {
  // The part of a processor in the plan in use.
  struct Part {
    std::string processor;
    double compute_us = 0;  // predicted
    int64_t bytes = 0;      // sent to the processor
    // What it has in this process's memory for all that is ready on it: weights in the order of its kernels
    // (for the home those of the whole model, too), and values between steps. Those of one GPU in
    // two types have it in common. 0: it is of another process, or its device is just being opened.
    int64_t weights_bytes = 0, values_bytes = 0;
  };
  int64_t requests = 0;  // with the shapes for which the model was loaded
  int64_t retries = 0;   // requests that the home computed again because a processor failed
  int64_t plans = 0;     // plans in use, one after the other
  int64_t lost = 0;      // losses of processors
  int measured = 0;      // plans that were run before the one in use was chosen
  double plan_s = 0;     // seconds of the last planning
  double usual_us = 0;   // of a request by the plan in use, as measured; 0: not yet known
  // Of the plan in use:
  std::string plan;  // "layers 1 to 9 on laptop+pi, layers 10 to 21 on laptop"
  int groups = 0;
  double predicted_us = 0, period_us = 0, joules = 0;
  std::vector<Part> parts;  // by processor
};

}  // namespace mete
